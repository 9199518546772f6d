"""From a scripted reply to a provider's bytes: one file per protocol, with the reply whole, streamed, and as an error."""
