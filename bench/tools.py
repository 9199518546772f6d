"""The tools both loops call: what a shop's search looks like, with a result of a usual size."""

from __future__ import annotations

from typing import Any

INSTRUCTIONS = (
    "Kamu asisten belanja sebuah toko elektronik. Gunakan alat untuk mencari produk dan memeriksa stok; "
    "jangan menebak harga. Jawab singkat, dalam bahasa pengguna, dan sebutkan nomor produk yang kamu sarankan."
)


def cari_produk(kata_kunci: str, halaman: int = 1, harga_maksimum: int = 0) -> dict[str, Any]:
    """Cari produk di katalog toko. Hasilnya dua produk per halaman."""
    return {
        "halaman": halaman,
        "produk": [
            {
                "id": f"PRD{halaman:03d}{place}",
                "nama": f"Laptop Pro 14 seri {halaman}-{place}, {kata_kunci}",
                "harga": 18_500_000 + 10_000 * halaman,
                "stok": 3 + place,
                "keterangan": "Layar 14 inci 2.8K, RAM 32 GB, SSD 1 TB, garansi resmi dua tahun, siap kirim hari ini.",
            }
            for place in (1, 2)
        ],
        "lanjut": harga_maksimum > 0,
    }


def cek_stok(product_id: str) -> dict[str, Any]:
    """Cek stok sebuah produk di semua gudang."""
    return {"product_id": product_id, "stok": 3}


def ongkos_kirim(kota: str, berat_gram: int) -> dict[str, Any]:
    """Hitung ongkos kirim ke sebuah kota."""
    return {"kota": kota, "ongkos": 20_000 + berat_gram * 2}


def _schema(function: Any, **properties: str) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {
            name: {"type": kind, "description": name.replace("_", " ")} for name, kind in properties.items()
        },
        "required": list(properties)[:1],
    }
    described = {"name": function.__name__, "description": function.__doc__, "parameters": parameters}
    return {"type": "function", "function": described}


SCHEMAS = [
    _schema(cari_produk, kata_kunci="string", halaman="integer", harga_maksimum="integer"),
    _schema(cek_stok, product_id="string"),
    _schema(ongkos_kirim, kota="string", berat_gram="integer"),
]
FUNCTIONS = {function.__name__: function for function in (cari_produk, cek_stok, ongkos_kirim)}
