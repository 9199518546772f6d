"""The assistants that come with tukang, by name. Each is a small file to read and to copy from; none is imported here.

What an assistant is made of stands in its own file. This one says which there are, and finds them.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from tukang.agent import Agent
from tukang.errors import ConfigurationError
from tukang.loop.events import Language
from tukang.models.base import Model


class Assistant(msgspec.Struct, frozen=True):
    """A shipped assistant, not yet imported.

    Args:
        name: as it is asked for: `toko`.
        about: what it does, in one line for each language.
        caller: the class in its module that says who is asking, made from a user id; None when that does not matter.
    """

    name: str
    about: Mapping[Language, str]
    caller: str | None = None

    def agent(self, model: str | Model | None = None) -> Agent:
        """Build it.

        Raises:
            ConfigurationError: the model is not known or not configured.
        """
        return self._module().agent(model)

    def context(self, user_id: str | None) -> Any:
        """What to pass as `context=` for a user; None for nobody in particular.

        Raises:
            ConfigurationError: a user was named, and this assistant does not ask who is calling; or the id is not usable.
        """
        if user_id is None:
            return None
        if self.caller is None:
            raise ConfigurationError(f"assistant {self.name!r} has no caller: leave the user out")
        return getattr(self._module(), self.caller)(user_id)

    def _module(self) -> Any:
        return importlib.import_module(f"{__name__}.{self.name}")


ASSISTANTS: Mapping[str, Assistant] = MappingProxyType(
    {
        assistant.name: assistant
        for assistant in (
            Assistant(
                "toko",
                {"id": "toko elektronik: harga, stok, pesanan", "en": "an electronics shop: prices, stock, orders"},
                caller="Pelanggan",
            ),
            Assistant(
                "ekspor",
                {"id": "ekspor pesanan, yang berjalan sendiri", "en": "exports of orders, done outside the turn"},
                caller="Pelanggan",
            ),
            Assistant("cuaca", {"id": "cuaca dan suhu kota", "en": "weather and temperatures of cities"}),
            Assistant("hitung", {"id": "kalkulator yang tidak menebak", "en": "a calculator that does not guess"}),
            Assistant(
                "kebijakan", {"id": "kebijakan kantor, dari dokumen", "en": "a company's policies, from documents"}
            ),
            Assistant(
                "kbli", {"id": "kode KBLI untuk kegiatan usaha", "en": "Indonesian codes of business activities (KBLI)"}
            ),
            Assistant("obrolan", {"id": "obrolan biasa, tanpa alat", "en": "plain conversation, without tools"}),
        )
    }
)


def find(name: str) -> Assistant:
    """The shipped assistant of that name.

    Raises:
        ConfigurationError: there is none; it names the nearest and all there are.
    """
    if found := ASSISTANTS.get(name):
        return found
    near = difflib.get_close_matches(name, ASSISTANTS, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise ConfigurationError(f"there is no assistant {name!r}.{meant} There are: {', '.join(ASSISTANTS)}")
