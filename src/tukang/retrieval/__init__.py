"""Finding texts for a question: full text and vectors, fused by rank. It knows no files, no agents and no databases of ours.

    from tukang.models.embeddings.names import at_hand
    from tukang.retrieval.hybrid import HybridIndex

    index = HybridIndex([("62019", "Pemrograman komputer"), …], at_hand())
    index.search("bikin aplikasi", 5)        # → Found(id, score, …), the best first

`words` says what a word is, `hybrid` is an index in memory, `vectors` finds rows near a row, `fusing` makes one
ranking of two.
"""
