"""Probes that no prompt was tuned on: contacts, e-mail, cancelling, converting, libraries of films and trains.

python -m bench.local tests/models/local/holdout.py
"""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}


def _tool(name: str, description: str, /, **properties: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [
    _tool("find_contact", "Look up a colleague's e-mail address and extension by name.", name=TEXT),
    _tool("send_email", "Send an e-mail.", to=TEXT, subject=TEXT, body=TEXT),
    _tool("status_pesanan", "Lihat status sebuah pesanan dari nomornya.", order_id=TEXT),
    _tool("batalkan_pesanan", "Batalkan sebuah pesanan.", order_id=TEXT, alasan=TEXT),
    _tool(
        "convert_unit",
        "Convert a value from one unit to another.",
        value=NUMBER,
        from_unit={"enum": ["km", "mile", "kg", "pound", "celsius", "fahrenheit"]},
        to_unit={"enum": ["km", "mile", "kg", "pound", "celsius", "fahrenheit"]},
    ),
    _tool("divide", "Divide a by b.", a=NUMBER, b=NUMBER),
    _tool("subtract", "Subtract b from a.", a=NUMBER, b=NUMBER),
    _tool("jadwal_kereta", "Cari jadwal kereta antara dua kota.", asal=TEXT, tujuan=TEXT),
    _tool("pesan_tiket", "Pesan tiket kereta.", kode_kereta=TEXT, jumlah={"type": "integer", "minimum": 1}),
    _tool("search_movies", "Search the film catalogue.", title=TEXT),
]
GROUPS = {
    "mail": ["find_contact", "send_email"],
    "orders": ["status_pesanan", "batalkan_pesanan"],
    "units": ["convert_unit"],
    "sums": ["divide", "subtract"],
    "trains": ["jadwal_kereta", "pesan_tiket"],
    "films": ["search_movies"],
}

_CONTACTS = {"rina": ("rina@contoh.id", "x214"), "tono": ("tono@contoh.id", "x377")}
_ORDERS = {"INV-3302": "dikirim", "INV-4410": "menunggu pembayaran"}
_FACTORS = {("km", "mile"): 0.621371, ("mile", "km"): 1.609344, ("kg", "pound"): 2.204623, ("pound", "kg"): 0.453592}
_TRAINS = {("bandung", "jakarta"): ("KA71", "06:30", 150000), ("solo", "surabaya"): ("KA88", "13:15", 210000)}


def run_tool(name: str, arguments: dict[str, Any]) -> Any:
    """A tool's result."""
    match name:
        case "find_contact":
            found = _CONTACTS.get(arguments["name"].split()[0].lower())
            return (
                {"name": arguments["name"], "email": found[0], "extension": found[1]}
                if found
                else {"error": "not found"}
            )
        case "send_email":
            return {"status": "sent", "message_id": "MSG5190"}
        case "status_pesanan":
            state = _ORDERS.get(arguments["order_id"].upper())
            return (
                {"order_id": arguments["order_id"], "status": state} if state else {"error": "pesanan tidak ditemukan"}
            )
        case "batalkan_pesanan":
            if _ORDERS.get(arguments["order_id"].upper()) == "dikirim":
                return {"error": "pesanan sudah dikirim, tidak bisa dibatalkan"}
            return {"order_id": arguments["order_id"], "status": "dibatalkan", "refund_id": "RFD0931"}
        case "convert_unit":
            return _converted(arguments["value"], arguments["from_unit"], arguments["to_unit"])
        case "divide":
            return {"result": arguments["a"] / arguments["b"]}
        case "subtract":
            return {"result": arguments["a"] - arguments["b"]}
        case "jadwal_kereta":
            train = _TRAINS.get((arguments["asal"].lower(), arguments["tujuan"].lower()))
            return (
                {"kode": train[0], "berangkat": train[1], "harga": train[2]} if train else {"error": "tidak ada kereta"}
            )
        case "pesan_tiket":
            return {"tiket": "TKT6027", "status": "lunas", "jumlah": arguments["jumlah"]}
        case "search_movies":
            return {"results": [{"title": "Laskar Pelangi", "year": 2008, "rating": 7.7}]}
        case _:
            return {"error": "unknown tool"}


def _converted(value: float, source: str, target: str) -> dict[str, Any]:
    if (source, target) == ("celsius", "fahrenheit"):
        return {"value": round(value * 9 / 5 + 32, 2), "unit": target}
    if (source, target) == ("fahrenheit", "celsius"):
        return {"value": round((value - 32) * 5 / 9, 2), "unit": target}
    return {"value": round(value * _FACTORS.get((source, target), 1.0), 2), "unit": target}


P: list[dict[str, Any]] = []


def _probe(
    kind: str, group: str, prompt: str, accept: list[Any], facts: list[str], forbid: tuple[str, ...] = ()
) -> None:
    P.append(
        {
            "id": len(P) + 1,
            "kind": kind,
            "grp": group,
            "prompt": prompt,
            "accept": accept,
            "facts": facts,
            "forbid": forbid,
        }
    )


def _call(name: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return name, arguments


_probe("single", "mail", "What is Rina's email address?", [[_call("find_contact", name="rina")]], ["rina@contoh.id"])
_probe("single", "mail", "Berapa nomor ekstensi Tono?", [[_call("find_contact", name="tono")]], ["x?377"])
_probe(
    "multi", "mail", "Find Tono's address and email him that the audit is on Friday.",
    [[_call("find_contact", name="tono"), _call("send_email", to="tono@contoh.id", body="audit")]], ["sent|MSG5190|terkirim"],
)  # fmt: skip
_probe("none", "mail", "Thanks, that was very helpful!", [[]], ["welcome|glad|happy|help|pleasure"])
_probe(
    "single",
    "orders",
    "Bagaimana status pesanan INV-3302?",
    [[_call("status_pesanan", order_id="INV-3302")]],
    ["dikirim"],
)
_probe(
    "single", "orders", "Please cancel order INV-4410, I bought the wrong size.",
    [[_call("batalkan_pesanan", order_id="INV-4410")]], ["RFD0931|cancel|batal"],
)  # fmt: skip
_probe(
    "multi", "orders", "Cek status INV-4410, kalau belum dikirim tolong batalkan karena salah alamat.",
    [[_call("status_pesanan", order_id="INV-4410"), _call("batalkan_pesanan", order_id="INV-4410")]], ["RFD0931|batal"],
)  # fmt: skip
_probe("none", "orders", "Saya mau membatalkan pesanan.", [[]], [r"\?|nomor|ID|kode"])
_probe("none", "orders", "Siapa penulis novel Laskar Pelangi?", [[]], ["Andrea Hirata"])
_probe(
    "single", "units", "How many miles is 42 km?",
    [[_call("convert_unit", value=42, from_unit="km", to_unit="mile")]], ["26[.,]1"],
)  # fmt: skip
_probe(
    "single", "units", "Ubah 150 pound ke kilogram.",
    [[_call("convert_unit", value=150, from_unit="pound", to_unit="kg")]], ["68[.,]04"],
)  # fmt: skip
_probe(
    "multi", "units", "Convert 37 celsius to fahrenheit and 10 kg to pounds.",
    [[_call("convert_unit", value=37, to_unit="fahrenheit"), _call("convert_unit", value=10, to_unit="pound")]],
    ["98[.,]6", "22[.,]05"],
)  # fmt: skip
_probe("none", "units", "Apa itu gaya gravitasi? Jawab singkat.", [[]], ["gaya|tarik|massa|gravit"])
_probe("single", "sums", "Berapa 1440 dibagi 32?", [[_call("divide", a=1440, b=32)]], ["45"])
_probe(
    "multi", "sums", "What is (9100 - 1300) / 26?",
    [[_call("subtract", a=9100, b=1300), _call("divide", a=7800, b=26)]], ["300"],
)  # fmt: skip
_probe(
    "single", "trains", "Ada kereta dari Solo ke Surabaya?",
    [[_call("jadwal_kereta", asal="solo", tujuan="surabaya")]], ["KA88|13[:.]15"],
)  # fmt: skip
_probe(
    "single", "trains", "Pesan 2 tiket kereta KA71.",
    [[_call("pesan_tiket", kode_kereta="KA71", jumlah=2)]], ["TKT6027|lunas|berhasil"],
)  # fmt: skip
_probe(
    "multi", "trains", "Carikan kereta Bandung ke Jakarta lalu pesan 3 tiketnya.",
    [[_call("jadwal_kereta", asal="bandung", tujuan="jakarta"), _call("pesan_tiket", kode_kereta="KA71", jumlah=3)]],
    ["TKT6027|lunas|berhasil"],
)  # fmt: skip
_probe(
    "single", "films", "When was the film Laskar Pelangi released?",
    [[_call("search_movies", title="laskar pelangi")]], ["2008"],
)  # fmt: skip
_probe("none", "films", "Hai, kamu bisa bantu apa saja?", [[]], ["film|bantu|help|katalog"])
