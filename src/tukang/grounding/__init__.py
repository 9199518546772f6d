"""Whether what an answer says was said before: figures, codes, prices, dates. Pure; it knows no model, loop or tool."""
