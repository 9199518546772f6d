"""Provider adapters: one file per wire protocol. Nothing outside this package knows a provider."""
