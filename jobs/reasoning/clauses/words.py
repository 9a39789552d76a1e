"""Classes of English words by which a clause without a tagger is taken apart: closed classes of its grammar."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.clauses.pasts import DOUBTFUL, IRREGULAR, NOT_PAST, PARTICIPLES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BE: Final = _words("is are was were isn't aren't wasn't weren't 'm 're")
HAVE: Final = _words("has have had hasn't haven't hadn't 've")
DO: Final = _words("does do did doesn't don't didn't")
WILL: Final = _words("will can cannot won't can't shall 'll")
# What only may be, or was to be: it is no fact.
DOUBT: Final = _words(
    "may might could would should must ought couldn't wouldn't shouldn't mustn't needn't supposedly allegedly "
    "reportedly 'd perhaps maybe probably possibly apparently if unless whether seems seem seemed appears appear "
    "appeared"
)
ADVERBS: Final = _words(
    "not never also already still since now just then once first later only recently originally often usually always "
    "sometimes mostly mainly currently initially eventually finally subsequently officially formerly both even soon "
    "again twice alone together almost nearly each all long further therefore however once"
)
NEGATIVE: Final = _words("not never hardly rarely seldom longer")
PREPOSITIONS: Final = _words(
    "in on at by for from to with into onto over under near during through across along against around behind beside "
    "between beyond within without towards toward upon above below off outside inside opposite until since before "
    "after about among amongst alongside aboard throughout per via past beneath despite as"
)
# Words that end a phrase: what comes after them is another clause, or another thing.
STOPS: Final = _words(
    "and or but nor so because while when as than that which who whom whose where how what why though although unless "
    "whether if then there here too again except instead rather yet yesterday today tomorrow tonight ago due either"
)
PRONOUNS: Final = _words(
    "i you he she it we they me him her us them this that these those one ones someone somebody something anyone "
    "anybody anything everyone everybody everything nobody nothing myself yourself himself herself itself ourselves "
    "themselves each other another both mine yours hers ours theirs who which what none some any all many most few "
    "several much"
)
OWNERS: Final = _words("my your his her its our their")
DETERMINERS: Final = _words("the a an")
QUANTIFIERS: Final = _words(
    "about almost nearly over under more less fewer up at least most some around roughly approximately only just "
    "between every each all both two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "half several many few no another other any"
)
PARTICLES: Final = _words("out up down off back away over round apart aside forward through")
# Words that stand behind a verb as adverbs do, and name nothing.
ALONE: Final = _words(
    "hard fast well late early far high low near close deep straight right home true kinda enough better worse best "
    "less more lot"
)
# Nouns that end as verbs that last do.
LASTING_NOUNS: Final = _words(
    "evening morning building meeting wedding training ceiling painting king ring spring string wing thing being "
    "feeling beginning ending opening closing hearing crossing landing booking housing lighting engineering "
    "programming parking shipping fishing farming mining banking funding marketing advertising recording drawing "
    "writing reading setting offering sailing ruling warning rating ranking"
)
# Nouns that make prepositions of several words: `on account of`, `at the request of`.
OF_PREPOSITIONS: Final = _words(
    "account request behalf place spite case front addition terms favour favor response order view light means virtue "
    "result expense end beginning course top side basis relation sure example instance fact general particular total "
    "turn absentia vain detail danger"
)
# Who says, thinks, tries or wants something is no source of it; and verbs that say little without what comes behind.
SAYS: Final = _words(
    "say says said think thinks thought believe believes believed claim claims claimed hope hopes hoped fear fears "
    "feared feel feels felt know knows knew suppose supposes supposed suggest suggests suggested argue argues argued "
    "guess guesses guessed wonder wonders wondered wish wishes wished doubt doubts doubted imagine imagines assume "
    "assumes assumed expect expects expected deny denies denied mean means meant let lets try tries tried ask asks "
    "asked tell tells explain explains explained add adds added reply replies replied admit admits admitted warn "
    "warns warned see sees saw hear hears heard find look looks looked sound sounds get gets got go come turn turns "
    "turned keep keeps take make do does did want wants wanted need needed bet bets"
)
NO_SUBJECT: Final = _words(
    "this these that those there here what who whom which why where how when if unless whether should would could not "
    "no yes please let every nobody nothing none all some most many more less few both neither either another others "
    "and or but so then thus hence instead also perhaps maybe even only just still yet never always often sometimes "
    "usually thanks thank hi hey hello dear ok okay oh well because although though while since as until than like "
    "for about with without despite to too later earlier today yesterday tomorrow tonight now soon meanwhile moreover "
    "however finally first second third one"
)
PAST: Final = IRREGULAR
_PAST_FORM: Final = re.compile(r"[a-z]{2,}ed")
_THIRD: Final = re.compile(r"[a-z]{2,}(?:[^s\W\d_]s|ses|zes)")
_NO_THIRD: Final = _words(
    "is was has does its his this thus as us always perhaps across towards besides sometimes news series species less "
    "yes plus versus years months weeks days hours minutes seconds people crowns metres miles grams members others "
    "pupils"
)
PARTICIPLE: Final = re.compile(PARTICIPLES)
BASE: Final = re.compile(r"[a-z][a-z-]+")


def past(word: str) -> bool:
    """Whether a word is a simple past by its form."""
    return word in PAST or (_PAST_FORM.fullmatch(word) is not None and word not in NOT_PAST)


def doubtful_past(word: str) -> bool:
    """Whether it is as often a noun or a present."""
    return word in DOUBTFUL


def participle(word: str) -> bool:
    """Whether a word is a past participle by its form."""
    return PARTICIPLE.fullmatch(word) is not None


def third_person(word: str) -> bool:
    """Whether a word may be a verb in the present, third person: `costs`; plurals of nouns look the same."""
    return _THIRD.fullmatch(word) is not None and word not in _NO_THIRD
