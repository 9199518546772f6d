"""Estimates of tokens are too high rather than too low, and are made once for each message."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire.recordings import WIRE, at_hand, lines
from tukang.conversation import (
    Citation,
    File,
    Image,
    Message,
    Opaque,
    ServerCall,
    ServerResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from tukang.memory.measuring import DOCUMENT, PICTURE, message_tokens, part_tokens, text_tokens, tokens

# What ten of the text are in the vocabularies cl100k and o200k, counted with `bpe-openai`.
COUNTED = [
    (
        "English",
        "The order was sent this morning and will arrive on Thursday; if nobody is at home, the driver leaves it with the "
        "neighbours. ",
        (261, 261),
    ),
    (
        "Indonesian",
        "Pesanan sudah dikirim tadi pagi dan akan tiba hari Kamis; kalau tidak ada orang di rumah, kurir menitipkannya ke "
        "tetangga. ",
        (381, 321),
    ),
    (
        "JSON",
        '{"product_id": "PRD002", "nama": "SSD Samsung 970 EVO 1TB", "harga": 1200000, "stok": 15, "aktif": true},\n',
        (450, 410),
    ),
    (
        "compact JSON",
        '[{"id":17,"a":null,"b":[1,2,3],"c":{"d":true}},{"id":18,"a":"x","b":[],"c":{"d":false}}],',
        (421, 421),
    ),
    (
        "code",
        "def total(items: list[Item]) -> int:\n    return sum(item.price * item.count for item in items if item.count > 0)\n",
        (300, 300),
    ),
    (
        "table of figures",
        "2024-01-17;1204;88,50;-3;0,0071;19945\n2024-01-18;1187;91,25;+4;0,0069;20311\n",
        (490, 480),
    ),
    ("ids", "7f3c9a52-1b0e-4d7a-9c11-e2a4b8d6f035 ORD-20240117-000481 9f86d081884c7d65 ", (510, 510)),
    ("Chinese", "您的订单今天早上已经发出，预计星期四送达；如果家里没有人，司机会把它交给邻居。", (410, 300)),
    (
        "Japanese",
        "ご注文の商品は今朝発送され、木曜日に到着する予定です。ご不在の場合は、お隣にお預けします。",
        (460, 320),
    ),
    ("Korean", "주문하신 상품은 오늘 아침에 발송되어 목요일에 도착할 예정입니다. ", (351, 212)),
    (
        "Russian",
        "Заказ отправлен сегодня утром и прибудет в четверг; если никого нет дома, водитель оставит его соседям. ",
        (461, 271),
    ),
    (
        "Arabic",
        "تم إرسال الطلب هذا الصباح وسيصل يوم الخميس، وإذا لم يكن أحد في المنزل يتركه السائق عند الجيران. ",
        (671, 261),
    ),
    ("Thai", "คำสั่งซื้อถูกส่งเมื่อเช้านี้และจะถึงในวันพฤหัสบดี ", (500, 210)),
    ("Hindi", "ऑर्डर आज सुबह भेजा गया और गुरुवार को पहुँचेगा। ", (511, 161)),
]


@pytest.mark.parametrize(("text", "counted"), [row[1:] for row in COUNTED], ids=[row[0] for row in COUNTED])
def test_an_estimate_is_no_less_than_what_vocabularies_make_of_it(text: str, counted: tuple[int, int]) -> None:
    estimate = text_tokens(text * 10)
    assert max(counted) <= estimate <= 4 * min(counted)


def test_an_estimate_is_no_less_than_what_providers_counted() -> None:
    judged = 0
    for row in lines(at_hand(WIRE / "openai_chat.jsonl")):
        body, usage = row["request"]["body"], (row["expect"] or {}).get("usage") or {}
        counted = usage.get("prompt_tokens")
        if isinstance(body, dict) and counted and counted > 50 and (messages := plain(body)):
            assert tokens(messages) >= counted, row["id"]
            judged += 1
    assert judged > 10


def plain(body: dict[str, Any]) -> list[Message]:
    """The messages of a request that holds nothing but text; none for another."""
    if "messages" not in body or body.get("tools") or body.get("response_format") or body.get("functions"):
        return []
    if any(not isinstance(one.get("content"), str) or one.get("tool_calls") for one in body["messages"]):
        return []
    return [user(one["content"]) for one in body["messages"]]


def test_what_is_no_text_counts_too() -> None:
    assert part_tokens(Image("image/png", b"x" * 9_000_000)) == PICTURE
    assert part_tokens(File("application/pdf", data=b"x")) == DOCUMENT
    assert part_tokens(File("application/pdf", data=b"x" * 1_000_000)) == 100_000
    assert part_tokens(File("text/plain", data=b"a" * 7_000)) >= 2_000
    assert part_tokens(Thinking("hm", "s" * 4_000, "x")) >= 1_000
    for part in (
        Opaque("x", {"sealed": "s" * 4_000}),
        ServerResult("a", "x", "s" * 4_000),
        ServerCall("a", "cari", "{}", "x", "s" * 4_000),
        Citation(data="s" * 4_000),
    ):
        assert 1_000 <= part_tokens(part) < 1_100
    call, result = ToolCall("a", "harga", "x" * 700), ToolResult("a", "harga", (Text("x" * 700), Image("image/png")))
    assert part_tokens(call) > 200
    assert part_tokens(result) > 200 + PICTURE


def test_half_a_character_is_measured() -> None:
    assert text_tokens("\ud83d") > 0
    assert part_tokens(Opaque("x", {"a": "\ud83d"})) > 0
    assert text_tokens("") == 0


def test_a_message_is_measured_once() -> None:
    message = assistant("Halo", ToolCall("a", "harga", "{}"))
    size = message_tokens(message)
    assert vars(message)["tokens"] == size
    vars(message)["tokens"] = size + 1
    assert tokens([message, message]) == 2 * (size + 1)
    assert assistant("Halo", ToolCall("a", "harga", "{}")) == message, "it takes no part in equality"
