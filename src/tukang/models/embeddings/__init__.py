"""Texts as vectors: one file for each wire protocol, and the models that come in packages. `names` goes from a name
to one."""
