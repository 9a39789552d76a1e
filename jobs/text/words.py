"""English words by class: the closed classes, common verbs, and the pasts that do not end in -ed."""

from __future__ import annotations

from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


AUXILIARIES: Final = _set(
    "is are was were am do does did has have had can could will would shall should may might must"
)
PREPOSITIONS: Final = _set(
    "about above across after against along among around as at before behind below beneath beside besides between "
    "beyond by despite down during except for from in inside into like near of off on onto out outside over past per "
    "since through throughout till to toward towards under until up upon via with within without"
)
DETERMINERS: Final = _set(
    "a an the this that these those my your his her its our their each every some any no both all another"
)
PRONOUNS: Final = _set("i you he she it we they me him her us them himself herself itself themselves who which")
CONJUNCTIONS: Final = _set("and or but nor so yet because although though while if when than whether")
QUESTION_WORDS: Final = _set("what which who whom whose when where why how")
ADVERBS: Final = _set(
    "first last later finally ever never also still now then just only already soon once again since actually really "
    "originally initially recently currently usually always often twice together"
)
CLOSED: Final = AUXILIARIES | PREPOSITIONS | DETERMINERS | PRONOUNS | CONJUNCTIONS | QUESTION_WORDS

# Pasts that are participles too, pasts alone, and participles alone.
_BOTH: Final = _set(
    "bent bet bled bought bound bred brought built burnt burst caught clung crept dealt dug fed felt fled flung "
    "fought found got heard held hit hung hurt kept knelt laid leant leapt led left lent lit lost made met paid "
    "proved put quit rebuilt said sent set shot shut slept slid sold sought spent split spread sprung spun stood "
    "struck stuck stung swept swung taught thought told understood upheld wept withstood won"
)
_PAST: Final = _set(
    "arose ate awoke became began bit blew broke came chose dove drank drew drove fell flew forbade foresaw "
    "forgave forgot froze gave grew ground hid knew meant mistook oversaw overthrew overtook ran rang rode rose "
    "sang sank sat saw shone shook shrank spoke sprang stole strove swam swore threw took tore undertook "
    "underwent went withdrew woke wore wove wrote"
)
_PARTICIPLE: Final = _set(
    "arisen awoken beaten become been begun bitten blown born broken chosen come cut done drawn dreamt driven "
    "drunk eaten fallen flown forbidden forgiven forgotten frozen given gone gotten grown hidden known lain "
    "learnt let mistaken overcome overtaken overthrown read ridden risen run rung seen shaken shown spoken "
    "stolen sung sunk sworn swum taken thrown torn undergone undertaken withdrawn worn woven written"
)
_NOT_PAST: Final = _set(
    "hundred indeed exceed proceed succeed speed breed greed united limited used based related located tired sacred"
)
PASTS: Final = _BOTH | _PAST
"""Simple pasts that do not end in -ed."""
PARTICIPLES: Final = _BOTH | _PARTICIPLE
"""Past participles that do not end in -ed."""


def is_past(word: str) -> bool:
    """Whether a word in lower case looks like a past tense or participle."""
    return word in PASTS or word in PARTICIPLES or (word.endswith("ed") and len(word) > 4 and word not in _NOT_PAST)
