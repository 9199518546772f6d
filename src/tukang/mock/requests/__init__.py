"""From a provider's request to what was asked: one file per protocol, each with the checks its provider makes.

Only what a provider is known to refuse is refused here, in its words where they are known. A mock that is stricter than the
provider makes a client worse; one that is laxer hides what will go wrong.
"""
