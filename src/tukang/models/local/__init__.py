"""The offline model: llama.cpp in this process, a small model, and two prompts that make it choose tools reliably.

`LocalModel` is all an agent needs. The rest, from the weights up: `weights` and `machine` (what there is), `llama`, `lane`,
`states` and `shared` (the engine), `grammar` and `patterns` (schemas as grammars), `view` and `prompts` (what the model
reads), `grounding` (what is known), `deciding` and `answering` (the two steps), `model` (the adapter).
"""

from tukang.models.local.model import Loading, LocalModel
from tukang.models.local.shared import release_engines

__all__ = ["Loading", "LocalModel", "release_engines"]
