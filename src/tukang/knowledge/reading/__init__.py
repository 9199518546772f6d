"""From a file to its blocks: headings, paragraphs and tables, in order, with the page where there are pages.

One file for each family of formats; `formats` picks one by a file's name and guards it: size, emptiness, encoding.
"""
