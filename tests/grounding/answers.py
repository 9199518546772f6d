"""Forty written answers, each with what it may rest on and what in it is unsupported. Data only."""

from __future__ import annotations

import msgspec

PRICE = (
    '{"ringkasan":"SSD Samsung 970 EVO 1TB (PRD002) harganya Rp 1.200.000, stok 15.",'
    '"product_id":"PRD002","harga":"Rp 1.200.000","stok":15}'
)
ORDER = (
    '{"nomor_pesanan":"ORD1001","status":"pending","quantity":1,"total":15000000,'
    '"dibuat":"2026-11-30T10:15:42+07:00","tiba":"2026-12-05"}'
)
LIST = '[{"id":"PRD001","harga":15000000,"stok":3},{"id":"PRD002","harga":1200000,"stok":15},{"id":"PRD003","stok":0}]'
INVOICE = '{"invoice":"INV/2026/001","total":1299.99,"currency":"USD","due":"2026-12-15","discount":0.125}'
BILL = "Faktur FK-2026-0077 tertanggal 3 Maret 2026, jatuh tempo 17 Maret 2026, sebesar Rp 2.750.500,00. Telp 0811-222-3344."


class Case(msgspec.Struct, frozen=True):
    """An answer.

    Args:
        asked: the user's words.
        results: what tools gave.
        answer: what the model wrote.
        unsupported: what in it nobody said.
    """

    asked: str
    results: tuple[str, ...]
    answer: str
    unsupported: tuple[str, ...] = ()


ANSWERS = (
    # right, as it was given
    Case("Berapa harga PRD002?", (PRICE,), "Harga SSD Samsung 970 EVO 1TB (PRD002) adalah Rp 1.200.000, stok 15."),
    Case("Pesan laptopnya", (ORDER,), "Pesanan **ORD1001** sudah dibuat: 1 unit, total Rp 15.000.000, status pending."),
    Case("What is due?", (INVOICE,), "Invoice INV/2026/001 is for $1,299.99 and is due on December 15, 2026."),
    Case("Stok PRD003?", (LIST,), "Maaf, PRD003 sedang habis. Mau saya carikan yang lain? Ada 2 produk lain."),
    Case(
        "Apa saja produknya?",
        (LIST,),
        "1. PRD001 – Rp 15.000.000 (stok 3)\n2. PRD002 – Rp 1.200.000 (stok 15)\n3. PRD003 – habis",
    ),
    Case("Halo!", (), "Halo! Ada yang bisa saya bantu? Saya siap 24/7, balasan paling lama 2x24 jam."),
    Case("Faktur saya?", (BILL,), "Faktur FK-2026-0077 sebesar Rp 2.750.500,00 jatuh tempo 17 Maret 2026."),
    Case(
        "When was it placed?",
        (ORDER,),
        "Your order ORD1001 was placed on 2026-11-30 at 10:15 and arrives on 2026-12-05.",
    ),
    # right, written otherwise: prices
    Case("Berapa harga PRD002?", (PRICE,), "Harganya Rp1,2 juta (stok: 15 unit)."),
    Case("Berapa harga PRD002?", (PRICE,), "PRD-002 dijual 1,2 jt rupiah, atau IDR 1,200,000."),
    Case("Total pesanan?", (ORDER,), "Totalnya 15 juta rupiah untuk pesanan ORD1001."),
    Case("Total pesanan?", (ORDER,), "Total: Rp 15.000.000,- (lima belas juta rupiah)."),
    Case("What is due?", (INVOICE,), "The total is US$ 1299.99, with a discount of 12.5%."),
    Case("Diskonnya?", (INVOICE,), "Ada diskon 12,5 persen; totalnya USD 1.299,99."),
    Case("Fakturnya berapa?", (BILL,), "Tagihannya Rp 2.750.500, kira-kira 2,75 juta."),
    Case("Berapa harga PRD001?", (LIST,), "PRD001 harganya Rp\u00a015\u202f000\u202f000."),
    Case(
        "Anggaran saya dua juta lima ratus ribu",
        (PRICE,),
        "Dengan anggaran Rp 2.500.000, SSD seharga Rp 1.200.000 cukup.",
    ),
    Case("Budget saya 2,5jt, cukup?", (PRICE,), "Cukup: anggaran Rp 2.500.000, harganya Rp 1.200.000."),
    # right, written otherwise: dates, times, codes
    Case("Kapan tiba?", (ORDER,), "Pesanan tiba Sabtu, 5 Desember 2026."),
    Case("Kapan tiba?", (ORDER,), "Dibuat 30/11/2026 pukul 10.15 WIB, tiba 5 Des."),
    Case(
        "When does it arrive?",
        (ORDER,),
        "It was placed on Nov 30, 2026 at 10:15 am and arrives on the 5th of December.",
    ),
    Case("Jatuh tempo?", (BILL,), "Jatuh tempo 2026-03-17, yaitu tanggal 17 bulan ini; hubungi +62 811 222 3344."),
    Case("Cek pesanan ord-1001", (ORDER,), "Pesanan #1001 (ORD1001) masih pending."),
    Case("Kirim tanggal 5 Desember ya", (ORDER,), "Baik, dikirim 5 Desember 2026, pesanan nomor ORD1001."),
    # a wrong digit
    Case("Berapa harga PRD002?", (PRICE,), "Harga PRD002 adalah Rp 1.300.000, stok 15.", ("Rp 1.300.000",)),
    Case("Berapa harga PRD002?", (PRICE,), "Harganya Rp 1,3 juta.", ("Rp 1,3 juta",)),
    Case("Berapa harga PRD002?", (PRICE,), "Harganya Rp 120.000 saja.", ("Rp 120.000",)),
    Case("Berapa stoknya?", (PRICE,), "Stok PRD002 ada 150 unit.", ("150",)),
    Case("Pesan laptopnya", (ORDER,), "Pesanan ORD1010 sudah dibuat, total Rp 15.000.000.", ("ORD1010",)),
    Case("What is due?", (INVOICE,), "Invoice INV/2026/010 is for $1,299.99.", ("INV/2026/010",)),
    Case("What is due?", (INVOICE,), "The total is $1,399.99, due on December 15, 2026.", ("$1,399.99",)),
    Case("Kapan tiba?", (ORDER,), "Pesanan ORD1001 tiba 6 Desember 2026.", ("6 Desember 2026",)),
    Case("Jatuh tempo?", (BILL,), "Jatuh tempo 17/04/2026 sebesar Rp 2.750.500.", ("17/04/2026",)),
    Case("Jam berapa dibuat?", (ORDER,), "Dibuat pukul 11.15 WIB pada 30 November 2026.", ("11.15",)),
    Case("Diskonnya?", (INVOICE,), "Diskonnya 22,5%.", ("22,5%",)),
    # made up
    Case("Tolong pesan SSD", (PRICE,), "Pesanan ORD7781 sudah dibuat, total Rp 1.200.000.", ("ORD7781",)),
    Case("Pesan 2 unit", (PRICE,), "Siap, totalnya Rp 2.400.000 untuk 2 unit.", ("Rp 2.400.000",)),
    Case("Where is my parcel?", (), "Your parcel 3Z999AA1 arrives on March 3, 2027.", ("3Z999AA1", "March 3, 2027")),
    Case("Ada PRD009?", (LIST,), "Ada, PRD008 harganya Rp 850.000.", ("PRD008", "Rp 850.000")),
    Case("Nomor CS?", (BILL,), "Hubungi 0812-999-1234, atau faktur FK-2026-0078.", ("0812-999-1234", "FK-2026-0078")),
)
