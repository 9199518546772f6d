"""Which addresses a tool may ask for: hosts, numbers in all their notations, and what hides in a URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from tukang.connectors.addresses import is_public
from tukang.connectors.hosts import Hosts, NotAllowed
from tukang.errors import ToolDefinitionError

HOSTS = Hosts(
    ["api.example.com", "*.contoh.id", "lain.example.com:8443", "bücher.example"], http=False, private=False, label="t"
)


@pytest.mark.parametrize(
    ("asked", "becomes"),
    [
        ("https://api.example.com/a?b=c#d", "https://api.example.com/a?b=c"),
        ("https://API.EXAMPLE.COM./x", "https://api.example.com/x"),
        ("https://api.example.com:443/", "https://api.example.com/"),
        ("https://a.contoh.id/", "https://a.contoh.id/"),
        ("https://a.b.contoh.id/", "https://a.b.contoh.id/"),
        ("https://lain.example.com:8443/", "https://lain.example.com:8443/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_what_is_in_the_list_may_be_asked_for(asked: str, becomes: str) -> None:
    assert str(HOSTS.checked(asked)[0]) == becomes


NOT = """
https://example.com/
https://contoh.id/
https://jahatcontoh.id/
https://contoh.id.jahat.com/
https://api.example.com.jahat.com/
https://api.example.com:444/
https://lain.example.com/
http://api.example.com/
ftp://api.example.com/
file:///etc/passwd
gopher://api.example.com/
data:text/html,x
javascript:alert(1)
//api.example.com/
api.example.com
/etc/passwd
https:/api.example.com/
https:///api.example.com/
https://
https://api.example.com@jahat.com/
https://user:kata@api.example.com/
https://user@api.example.com/
https://jahat.com#@api.example.com/
https://jahat.com?@api.example.com/
https://jahat.com\\@api.example.com/
https://jahat.com/\\api.example.com/
https://api.example.com%2ejahat.com/
https://api.example.com%00.jahat.com/
https://api.example.com%0d%0aHost:jahat.com/
https://exa%6dple.contoh.id/
https://127.0.0.1/
https://127.1/
https://127.0.1/
https://2130706433/
https://0x7f000001/
https://0x7f.1/
https://0x7f.0x0.0x0.0x1/
https://0177.0.0.1/
https://017700000001/
https://127.0.0.1.
https://169.254.169.254/latest/meta-data/
https://[::1]/
https://[::]/
https://[::ffff:127.0.0.1]/
https://[::ffff:7f00:1]/
https://[::127.0.0.1]/
https://[64:ff9b::a9fe:a9fe]/
https://[fe80::1%25eth0]/
https://[fd00:ec2::254]/
https://１２７.0.0.1/
https://①②⑦.0.0.1/
https://127。0。0。1/
https://localhost/
https://LOCALHOST./
https://localhost.localdomain/
https://8.8.8.8/
"""


@pytest.mark.parametrize(
    "asked", [*NOT.split("\n")[1:-1], "https://api.example.com /", "https://api.example.com\t/", "\x00"]
)
def test_nothing_else_may(asked: str) -> None:
    with pytest.raises(NotAllowed):
        HOSTS.checked(asked)


@given(
    st.text(max_size=40),
    st.sampled_from(["https://{}/", "https://api.example.com{}", "https://{}@api.example.com/", "{}"]),
)
def test_whatever_is_asked_for_it_is_a_host_of_the_list_or_refused(text: str, form: str) -> None:
    try:
        url, _ = HOSTS.checked(form.format(text))
    except NotAllowed:
        return
    again = URL(str(url))
    host = again.raw_host or ""
    assert host in ("api.example.com", "lain.example.com", "xn--bcher-kva.example") or host.endswith(".contoh.id")
    assert (again.scheme, again.user) == ("https", None)
    assert again.port == (8443 if host == "lain.example.com" else 443)


@pytest.mark.parametrize(
    "said", ["*", "*.id", "*.*.id", "a.*.id", "127.0.0.1", "[::1]", "2130706433", "localhost", "a.localhost"]
)
def test_a_list_that_stands_for_everything_or_for_this_machine_is_refused(said: str) -> None:
    with pytest.raises(ToolDefinitionError):
        Hosts([said], http=False, private=False, label="t")


@pytest.mark.parametrize("said", ["", "http://a.b", "a.b/c", "a b", "a@b.c", "a.b?c", "a.b:x"])
def test_what_is_no_host_is_refused(said: str) -> None:
    with pytest.raises(ToolDefinitionError, match="is not a host"):
        Hosts([said], http=False, private=True, label="t")
    with pytest.raises(ToolDefinitionError, match="hosts is a list"):
        Hosts([], http=False, private=True, label="t")
    with pytest.raises(ToolDefinitionError, match="hosts is a list"):
        Hosts("api.example.com", http=False, private=True, label="t")


PUBLIC = "8.8.8.8 1.1.1.1 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1"
PRIVATE = """
    127.0.0.1 127.255.255.255 10.1.1.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 100.100.100.200 0.0.0.0 0.1.2.3
    255.255.255.255 224.0.0.1 239.1.1.1 240.0.0.1 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 168.63.129.16
    ::1 :: ::127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 fe80::1
    fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 2002:7f00:1::1 2002:a9fe:a9fe::1 2001::1 2001:db8::1 ff02::1 100::1 3fff::1
    127.1 2130706433 0x7f.1 localhost
"""


@pytest.mark.parametrize("address", PUBLIC.split())
def test_an_address_of_the_open_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", PRIVATE.split())
def test_an_address_of_this_machine_this_network_or_none(address: str) -> None:
    assert not is_public(address)
