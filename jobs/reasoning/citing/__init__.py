"""Citing, after and apart from answering: which sentences of the evidence a sentence of an answer rests on.

Xinyu AI Search, section 3.6.1: the entities of the sentence (times, places, persons, titles, numbers) are looked for in
the sources, and the source that shares most is cited; every number of the sentence must stand there; else there is no
citation. Headings, text that ends in a colon and sentences of under 10 characters carry none (its released code).

By rule, entities are told by their rarity among the sources rather than by a list of types (`overlap`), and numbers are
compared by value (`source`). What shares less than half of the weight is no source. Several are cited where only
together they have all numbers, as a comparison needs (`search`); what follows from these need stand in none
(`derived_numbers`).
"""
