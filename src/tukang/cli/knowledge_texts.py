"""The sentences of `tukang knowledge`, in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class KnowledgeTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    about: str
    about_add: str
    about_list: str
    about_search: str
    about_remove: str
    paths: str
    query: str
    document: str
    opt_store: str
    opt_name: str
    opt_embedder: str
    opt_about: str
    opt_where: str
    opt_within: str
    opt_encoding: str
    opt_most: str
    opt_prune: str
    opt_limit: str
    needs: str
    pair: str
    became: Mapping[str, str]
    passages: str
    changed: str
    unread: str
    vanished: str
    page: str
    nothing: str
    no_documents: str
    unknown: str
    removed: str
    sum: str
    looked_up: str
    spared: str
    reasons: Mapping[str, str]


KNOWLEDGE_TEXTS: Mapping[Language, KnowledgeTexts] = {
    "id": KnowledgeTexts(
        about="Dokumen yang bisa dicari: PDF, DOCX, XLSX, CSV, HTML, Markdown, teks",
        about_add="Memasukkan berkas, dan semua berkas di folder. Boleh diulang: hanya yang berubah yang dikerjakan.",
        about_list="Dokumen yang ada",
        about_search="Mencari potongan dokumen",
        about_remove="Mengeluarkan dokumen, dengan semua potongannya",
        paths="Berkas dan folder",
        query="Apa yang dicari",
        document="Nama dokumen seperti di daftar, atau jalur berkasnya",
        opt_store="Alamat simpanan: sqlite:///berkas.db atau postgresql://…; tanpa: TUKANG_STORE, atau berkas di folder data",
        opt_name="Nama kumpulan; satu simpanan bisa memuat beberapa",
        opt_embedder="Pembuat vektor: use, e5, openai:MODEL, ollama:MODEL, bedrock:MODEL; tanpa: use",
        opt_about="Yang diketahui tentang dokumen, misalnya departemen=SDM; boleh beberapa",
        opt_where="Hanya dokumen dengan ini, misalnya departemen=SDM; boleh beberapa",
        opt_within="Folder yang tidak boleh ditinggalkan",
        opt_encoding="Enkode teks yang bukan UTF-8, misalnya cp1252",
        opt_prune="Keluarkan juga dokumen yang berkasnya sudah tidak ada di folder",
        opt_most="Ukuran terbesar satu berkas, dalam MB",
        opt_limit="Paling banyak sekian potongan",
        needs="Dokumen memerlukan paket tambahan: pip install 'tukang[knowledge]'",
        pair="{said!r}: tulis NAMA=NILAI",
        became={
            "added": "masuk",
            "updated": "diperbarui",
            "unchanged": "tetap",
            "failed": "gagal",
            "vanished": "hilang",
            "removed": "dikeluarkan",
        },
        passages="{count} potongan",
        changed="{new} baru, {gone} dihapus",
        vanished="berkasnya sudah tidak ada, dokumennya masih; keluarkan dengan --prune atau tukang knowledge remove",
        unread="halaman {pages} berupa gambar, atau hurufnya bukan teks: tidak terbaca",
        page="hal. {page}",
        nothing="tidak ada yang cocok",
        no_documents="belum ada dokumen di {store}",
        unknown="tidak ada dokumen {document!r}",
        removed="dikeluarkan: {source}",
        looked_up="dicari langsung, tanpa bertanya ke model",
        spared="tanpa mencari: tidak ada dokumen tentang ini",
        sum="{good} dokumen diurus, {failed} gagal",
        reasons={
            "missing": "tidak ada berkas atau folder seperti itu",
            "outside": "letaknya di luar folder yang diberikan (lewat `..` atau tautan); sebutkan sendiri bila dimaksud",
            "too_large": "terlalu besar; pecah, atau izinkan lebih dengan --most",
            "empty": "tidak ada isinya",
            "scanned": "halamannya berupa gambar, atau hurufnya bukan teks; kenali dulu teksnya (OCR)",
            "password": "terkunci kata sandi; simpan salinan tanpa kata sandi",
            "corrupt": "rusak, atau bukan berkas jenis ini",
            "encoding": "teksnya bukan UTF-8; simpan sebagai UTF-8, atau sebutkan dengan --encoding",
            "unknown_format": "jenis berkas ini tidak bisa dibaca",
            "unreadable": "tidak bisa dibaca",
            "metadata": "keterangan tentang dokumen ini terlalu banyak atau terlalu panjang",
        },
    ),
    "en": KnowledgeTexts(
        about="Documents that can be searched: PDF, DOCX, XLSX, CSV, HTML, Markdown, text",
        about_add="Take files in, and all files of folders. It may be run again: only what has changed is worked on.",
        about_list="The documents there are",
        about_search="Search for passages",
        about_remove="Take a document out, with all its passages",
        paths="Files and folders",
        query="What to search for",
        document="A document's name as in the list, or the path of its file",
        opt_store="The store: sqlite:///file.db or postgresql://…; without: TUKANG_STORE, or a file in the data folder",
        opt_name="Name of the collection; a store may hold several",
        opt_embedder="What makes the vectors: use, e5, openai:MODEL, ollama:MODEL, bedrock:MODEL; without: use",
        opt_about="What is known about the documents, such as departemen=SDM; may be repeated",
        opt_where="Only documents of which this is known, such as departemen=SDM; may be repeated",
        opt_within="A folder that nothing may lie outside of",
        opt_encoding="Encoding of text that is not UTF-8, such as cp1252",
        opt_prune="Also take out documents whose files are no more in the folder",
        opt_most="The largest file that is read, in MB",
        opt_limit="So many passages at most",
        needs="Documents need an extra: pip install 'tukang[knowledge]'",
        pair="{said!r}: write NAME=VALUE",
        became={
            "added": "added",
            "updated": "updated",
            "unchanged": "unchanged",
            "failed": "failed",
            "vanished": "vanished",
            "removed": "taken out",
        },
        passages="{count} passages",
        changed="{new} new, {gone} gone",
        vanished="its file is no more, its document is; take it out with --prune or tukang knowledge remove",
        unread="pages {pages} are pictures, or letters that are no text: they were not read",
        page="p. {page}",
        nothing="nothing fits",
        no_documents="there are no documents in {store}",
        unknown="there is no document {document!r}",
        removed="taken out: {source}",
        looked_up="looked up at once, without asking the model",
        spared="without a search: no document has to do with this",
        sum="{good} documents seen to, {failed} failed",
        reasons={
            "missing": "there is no such file or folder",
            "outside": "it lies outside of the folder that was given (by `..` or a link); name it by itself if it is meant",
            "too_large": "it is too large; split it, or allow more with --most",
            "empty": "there is nothing in it",
            "scanned": "its pages are pictures, or letters that are no text; have the text recognised first (OCR)",
            "password": "it is locked with a password; save a copy without one",
            "corrupt": "it is damaged, or not a file of this kind",
            "encoding": "its text is not UTF-8; save it as UTF-8, or name it with --encoding",
            "unknown_format": "files of this kind cannot be read",
            "unreadable": "it cannot be read",
            "metadata": "what is said about it is too much, or too long",
        },
    ),
}
