"""Tools that work on this machine, confined: a shell, a text editor, a memory of files, a screen.

They are the tools that models were trained on in a provider's own form, with executors of ours; a model of another provider
gets them as ordinary tools. None is there unless it is given to an agent. Nothing here knows a provider.
"""

from tukang.machine.bash import bash
from tukang.machine.computer import computer
from tukang.machine.editor import editor
from tukang.machine.memory import memory

__all__ = ["bash", "computer", "editor", "memory"]
