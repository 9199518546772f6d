"""In Indonesian, what others say in English: the library to a developer, the parser of the command line, the system.

Pieces of sentences, not whole ones, because errors are put together of them. What is not here is shown as it was said, so a
sentence that changes is understood all the same. Texts only; it decides nothing, and English stays as it is.
"""

from __future__ import annotations

import re

from tukang.loop.events import Language

_PARSER = (
    (r"Missing argument ('.+?')\.", r"Argumen \1 belum ditulis."),
    (r"Missing option ('.+')\.", r"Opsi \1 belum ditulis."),
    (r"No such command ('.+?')\.", r"Tidak ada perintah \1."),
    (r"No such option: (\S+)", r"Tidak ada opsi \1"),
    (r"\(Possible options: (.+)\)", r"(mungkin: \1)"),
    (r"Option ('.+?') requires an argument\.", r"Opsi \1 perlu isi."),
    (r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", r"Terlalu banyak argumen: \1"),
    (r"Invalid value for (.+?): ", r"Isi \1 tidak bisa dipakai: "),
    (r"Input should be less than or equal to (\S+)", r"paling besar \1"),
    (r"Input should be greater than or equal to (\S+)", r"paling kecil \1"),
    (r"Input should be a valid integer.*", "harus bilangan bulat"),
    (r"Input should be a valid number.*", "harus bilangan"),
    (r"--lang needs a language: id or en", "--lang perlu bahasa: id atau en"),
    (r"(\S+) must be 'id' or 'en', not ('.*?')", r"\1 harus 'id' atau 'en', bukan \2"),
)

_SYSTEM = (
    (r"No such file or directory", "tidak ada berkas atau folder seperti itu"),
    (r"Not a directory", "itu bukan folder"),
    (r"File exists", "sudah ada berkas dengan nama itu"),
    (r"Is a directory", "itu folder, bukan berkas"),
    (r"Permission denied", "tidak diizinkan"),
    (r"Read-only file system", "sistem berkasnya hanya bisa dibaca"),
    (r"No space left on device", "ruang disk habis"),
    (r"Address already in use", "alamatnya sedang dipakai"),
    (r"Cannot assign requested address", "alamat itu bukan milik mesin ini"),
    (r"Name or service not known", "namanya tidak dikenal"),
)

_NAMED = (
    (r"there is no assistant ('.*?')\.", r"tidak ada asisten \1."),
    (r"assistant ('.*?') has no caller: leave the user out", r"asisten \1 tidak mengenal pelanggan: hilangkan --user"),
    (r"(\S+) has no caller: --user is for (.+)", r"\1 tidak mengenal pelanggan: --user hanya untuk \2"),
    (r"; an agent of your own is named module:name", "; agen buatan sendiri ditulis modul:nama"),
    (r"Did you mean (\S+)\?", r"Maksudnya \1?"),
    (r"There are: ", "Yang ada: "),
    (
        r"there is no module ('.*?'), neither in (.+) nor installed\. Write module:name, without \.py",
        r"tidak ada modul \1, di \2 maupun yang terpasang. Tulis modul:nama, tanpa .py",
    ),
    (r"module ('.*?') has no ('.*?')\.", r"modul \1 tidak punya \2."),
    (
        r"(\S+) cannot be imported: it needs (\S+), which is not installed",
        r"\1 tidak bisa dimuat: perlu \2, yang tidak terpasang",
    ),
    (r"(\S+) cannot be imported: ", r"\1 tidak bisa dimuat: "),
    (r"(\S+) made no agent: ", r"\1 tidak membuat agen: "),
    (r"; with --debug it is shown where", "; --debug menunjukkan tempatnya"),
    (r"('.*?') is not module:name", r"\1 bukan modul:nama"),
    (
        r"is an? (\S+): expected a tukang\.Agent, or a function that returns one",
        r"adalah \1: seharusnya tukang.Agent, atau fungsi yang mengembalikannya",
    ),
    (r"there is no session ('.*?') in this store", r"tidak ada sesi \1 di simpanan ini"),
    (
        r"there is a session ('.*?') already; choose another name, or delete that one",
        r"sudah ada sesi \1; pilih nama lain, atau hapus yang itu",
    ),
    (
        r"a session's id is some text that can be written down, not ('.*?')",
        r"nama sesi adalah teks yang bisa ditulis, bukan \1",
    ),
    (r"there is no task ('.*?')", r"tidak ada tugas \1"),
    (
        r"nothing waits for a decision under ('.*?'): `(.+?)` shows what does",
        r"tidak ada yang menunggu keputusan dengan nomor \1: `\2` menunjukkan yang ada",
    ),
    (r"approval ('.*?') was answered before, by (.+)", r"izin \1 sudah dijawab oleh \2"),
)

_MODELS = (
    (r"there is no provider ('.*?')\.", r"tidak ada penyedia \1."),
    (r"A model is named 'provider:model', with one of: ", "Model ditulis 'penyedia:model', dengan salah satu dari: "),
    (r"(\S+) needs a key: set ", r"\1 perlu kunci: isi "),
    (r", or (\w+) for a server that needs none\.", r", atau \1 untuk server yang tidak perlu kunci."),
    (r"\(or (\w+)\)\.", r"(atau \1)."),
    (r"(.+) needs a region: set AWS_REGION, for example ", r"\1 perlu region: isi AWS_REGION, misalnya "),
    (r"(\S+) cannot be reached: ", r"\1 tidak dapat dihubungi: "),
    (r"Connect call failed (\(.+?\))", r"sambungan ke \1 gagal"),
    (r"Check the base URL and that the server runs\.", "Periksa alamatnya, dan apakah servernya berjalan."),
    (r"cannot read the script ('.*?'): it is not UTF-8", r"naskah \1 tidak bisa dibaca: bukan UTF-8"),
    (r"cannot read the script ('.*?'): ", r"naskah \1 tidak bisa dibaca: "),
    (r"line (\d+): not a scripted reply: ", r"baris \1: bukan jawaban untuk naskah: "),
    (
        r"No model was named and neither OPENAI_API_KEY nor OPENAI_BASE_URL is set, so it would be the local one: ",
        "Tidak ada model yang disebut, OPENAI_API_KEY dan OPENAI_BASE_URL tidak ada, jadi yang dipakai model lokal: ",
    ),
)

_STORES = (
    (
        r"the file is not an SQLite database, or it is damaged\. Restore it from an export\.",
        "berkasnya bukan basis data SQLite, atau rusak. Pulihkan dari hasil ekspor.",
    ),
    (
        r"the file cannot be opened\. Its directory must be there, and may be read and written by this user\.",
        "berkasnya tidak bisa dibuka. Foldernya harus ada, dan boleh dibaca dan ditulisi pengguna ini.",
    ),
    (
        r"a store's address begins with sqlite:/// or postgresql://, not with ('.*?')",
        r"alamat simpanan diawali sqlite:/// atau postgresql://, bukan \1",
    ),
    (
        r"an SQLite store is a file: sqlite:///relative/path\.db, or sqlite:////absolute/path\.db\. What is to live in "
        r"memory needs no store",
        "simpanan SQLite adalah berkas: sqlite:///jalur/relatif.db, atau sqlite:////jalur/mutlak.db. Yang cukup di memori "
        "tidak perlu simpanan",
    ),
    (r"names no database: (\S+)", r"tidak menyebut basis data: \1"),
    (
        r"the data folder (.+) cannot be used: (.+)\. Set TUKANG_DATA to a folder that can be written to",
        r"folder data \1 tidak bisa dipakai: \2. Isi TUKANG_DATA dengan folder yang bisa ditulisi",
    ),
)

_SERVERS = (
    (
        r"Is the server up, and can it be reached from here\?",
        "Apakah servernya berjalan, dan bisa dijangkau dari sini?",
    ),
    (r"(\S+) cannot be read: ", r"\1 tidak bisa dibaca: "),
    (r"has no \"mcpServers\": expected ", 'tidak punya "mcpServers": seharusnya '),
    (
        r"the program ('.*?') is not found; install it, or give its path",
        r"program \1 tidak ditemukan; pasang, atau beri jalurnya",
    ),
    (r"Say (\"optional\": true) where it may be missing", r"Tulis \1 kalau boleh tidak ada"),
    (r"MCP server ('.*?'): ", r"server MCP \1: "),
)

_HOME = (
    (
        r"there is no home folder to keep data in: set TUKANG_DATA to the whole path of a folder that can be written to",
        "tidak ada folder rumah untuk menyimpan data: isi TUKANG_DATA dengan jalur lengkap folder yang bisa ditulisi",
    ),
)

_EXTRAS = (
    (r"documents need the package numpy: ", "dokumen memerlukan paket numpy: "),
    (r"the embedder ('.*?') needs the package (\S+): ", r"pembuat vektor \1 memerlukan paket \2: "),
    (r"the local model's engine is not installed\.", "mesin model lokal tidak terpasang."),
    (r"MCP needs the official SDK: ", "MCP memerlukan SDK resminya: "),
    (r"workers need Procrastinate and psycopg: ", "pekerja memerlukan Procrastinate dan psycopg: "),
    (r"Celery is not installed: ", "Celery tidak terpasang: "),
    (r"(\S+) needs (psycopg|botocore): (?=pip )", r"\1 memerlukan \2: "),
    (r"Install it with: ", "Pasang dengan: "),
)

_CODES = (
    (r"cannot read (.+): ", r"\1 tidak bisa dibaca: "),
    (r"there is no edition (\d+): expected (\d+) or (\d+)", r"tidak ada edisi \1: seharusnya \2 atau \3"),
    (
        r"has no column ('.*?'): map it with (\w+)=NAME; there are: ",
        r"tidak punya kolom \1: sebutkan dengan --kolom \2=NAMA; yang ada: ",
    ),
    (r"there is no column ('.*?') to map: expected ", r"tidak ada kolom \1 untuk diisi: seharusnya "),
    (
        r"has no rows: expected a list of codes with a title each",
        "tidak berisi baris: seharusnya daftar kode, masing-masing dengan judul",
    ),
    (r"is not JSON: ", "bukan JSON: "),
    (
        r"is not UTF-8 \((byte \d+)\): save it as UTF-8 and import again",
        r"bukan UTF-8 (\1): simpan sebagai UTF-8, lalu muat lagi",
    ),
    (r"is not UTF-8 text", "bukan teks UTF-8"),
    (r"it is not UTF-8", "bukan UTF-8"),
    (r"is nested deeper than a (?:table|list of servers) is", "bersarang terlalu dalam"),
    (r"cannot be used to keep calls in: ", "tidak bisa dipakai menyimpan panggilan: "),
    (r"file is not a database", "bukan basis data"),
    (r"unable to open database file", "berkasnya tidak bisa dibuka"),
    (
        r"(\S+) cannot be used: (.+)\. Set TUKANG_DATA to a folder that can be written to",
        r"\1 tidak bisa dipakai: \2. Isi TUKANG_DATA dengan folder yang bisa ditulisi",
    ),
    (r"cannot be opened or is held by another program: ", "tidak bisa dibuka atau sedang dipakai program lain: "),
    (r"is no SQLite file: move it away, and import again", "bukan berkas SQLite: pindahkan, lalu muat lagi"),
    (
        r"(\.\w+|no ending) is not read: expected \.json, \.csv or \.tsv",
        r"\1 tidak dibaca: seharusnya .json, .csv atau .tsv",
    ),
)

_PIECES = (*_PARSER, *_NAMED, *_MODELS, *_STORES, *_SERVERS, *_HOME, *_EXTRAS, *_CODES, *_SYSTEM)


def told(sentence: str, language: Language) -> str:
    """An error as the user is told it: in their language as far as it is known here."""
    if language == "id":
        for pattern, said in _PIECES:
            sentence = re.sub(pattern, said, sentence, flags=re.DOTALL)  # compiled by `re`, and only where it is wanted
    return sentence
