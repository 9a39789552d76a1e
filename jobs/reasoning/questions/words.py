"""Parts of speech by short lists: enough to find question words, auxiliaries, subjects and verbs in a question.

No parser is at hand. The lists are of closed classes and of the commonest verbs of English; what they do not have is
told by its ending, its capital letter and its place.
"""

from __future__ import annotations

import re
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


AUXILIARIES: Final = _set(
    "is are was were am do does did has have had can could will would shall should may might must"
)
BE: Final = _set("is are was were am")
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

_BASES: Final = _set(
    "accept accuse achieve acquire act add admit adopt advise affect agree aim allow announce answer apologise "
    "apologize appeal appear apply appoint approve argue arrange arrest arrive ask assume attack attend attract "
    "award ban base beat become begin believe belong bid blame block borrow break bring broadcast build burn buy "
    "call cancel capture carry cast catch cause celebrate challenge change charge check choose cite claim clean "
    "climb close collapse collect come commit compare compete complain complete conclude confirm connect consider "
    "construct contain continue contribute control cost count cover crash create criticise cross cut damage date "
    "deal decide declare decline defeat defend define deliver demand deny depart depend describe design destroy "
    "detect develop die differ direct disappear discover discuss divide dominate double draw drive drop earn eat "
    "elect emerge employ enable end enjoy enter escape establish estimate examine exceed exist expand expect "
    "experience explain export express extend face fail fall feature feel fight fill film find fine finish fire fit "
    "fix float flow fly focus follow forbid force form found freeze function fund gain generate get give go govern "
    "grant "
    "grow guarantee guard happen hate have head hear help hide hire hit hold host identify import improve include "
    "increase inform inherit injure inspect install intend introduce invade invent invest investigate invite "
    "involve issue join judge jump keep kill know lack land last launch lay lead learn leave lend let lie like list "
    "live locate look lose love maintain make manage manufacture mark marry mean measure meet mention merge miss "
    "move name need note notice object oblige obtain occupy occur offer open operate oppose order organise organize "
    "orient originate own paint participate pass pay perform permit pick place plan plant play pledge point possess "
    "post predict prefer prepare present prevent print produce promise promote propose protect prove provide publish "
    "pull purchase push put raise ran rank reach react read realise realize receive recognise recognize recommend "
    "record recover reduce refer refuse register reject relate release rely remain remember remove rename renovate "
    "repair repeat replace reply report represent request require rescue resign resolve respond restore result "
    "retire retract return reveal ride ring rise rule run sail save say score see seek seem sell send separate "
    "serve set settle share ship shoot show shut sign sing sink sit sleep speak spend split spread stand star start "
    "state stay steal stop strike study succeed suffer suggest supply support suppose surrender survive suspect "
    "suspend swim switch take talk teach tell test thank think threaten throw tighten trace trade train transfer "
    "travel treat trigger try turn understand use value visit vote wait walk want warn wash watch wear weigh win "
    "wish withdraw work worry write yield"
)
# Pasts and participles that no rule gives.
_IRREGULAR: Final = {
    past: base
    for base, pasts in (
        pair.split(":")
        for pair in (
            "be:been beat:beaten become:became begin:began,begun bite:bit,bitten blow:blew,blown break:broke,broken "
            "bring:brought build:built burn:burnt buy:bought catch:caught choose:chose,chosen come:came deal:dealt "
            "draw:drew,drawn dream:dreamt drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed "
            "feel:felt fight:fought find:found fly:flew,flown forbid:forbade,forbidden forget:forgot,forgotten "
            "freeze:froze,frozen get:got,gotten give:gave,given go:went,gone grow:grew,grown hang:hung have:had "
            "hear:heard hide:hid,hidden hold:held keep:kept know:knew,known lay:laid lead:led learn:learnt leave:left "
            "lend:lent lie:lay,lain lose:lost make:made mean:meant meet:met pay:paid ride:rode,ridden ring:rang,rung "
            "rise:rose,risen run:ran say:said see:saw,seen seek:sought sell:sold send:sent shake:shook,shaken "
            "shoot:shot show:shown sing:sang,sung sink:sank,sunk sit:sat sleep:slept speak:spoke,spoken spend:spent "
            "stand:stood steal:stole,stolen strike:struck swear:swore,sworn swim:swam,swum take:took,taken "
            "teach:taught tear:tore,torn tell:told think:thought throw:threw,thrown wear:wore,worn win:won "
            "withdraw:withdrew,withdrawn write:wrote,written"
        ).split()
    )
    for past in pasts.split(",")
}
_PARTICIPLES: Final = frozenset(_IRREGULAR) | _set("cut hit put set shut read let cost run come become overcome")
_DOUBLED: Final = re.compile(r"([bdgklmnprt])\1ed$")
# `compelled`, `controlled` and `travelled` double what `called` and `spelled` have anyway.
_UNSTRESSED: Final = re.compile(r"[aeiou].*[eo]lled$")
# A last e that the past hides: `replaced`, `changed`, `caused`, `moved`, `created`.
_HIDDEN_E: Final = re.compile(
    r"(?:[aiou][bcdgkmpstvz]|[cgvz]|(?<!s)s|[rlnt][gcsv]|[bcdfgkpstz]l|u|at|it|ut|[^aeio](?:il|in|ul|ir|ar)|[^aeio]yl|[^aeo]ur|(?:pl|st|gn|sc)or)ed$"
)
_MARKS: Final = '.,;:!?"“”()[]'


def base(verb: str) -> str:
    """The plain form of an English verb in the past or in the third person: `added` is `add`, `took` is `take`."""
    word = verb.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _BASES:
        return word
    if word.endswith("ied"):
        return word[:-3] + "y"
    if word.endswith("ed"):
        stems = (word[:-1], word[:-2], word[:-3] if _DOUBLED.search(word) else word[:-2])
        known = [s for s in stems if s in _BASES]
        if known:
            return known[0]
        if _DOUBLED.search(word) and (not word.endswith("lled") or _UNSTRESSED.search(word)):
            return word[:-3]
        return word[:-1] if _HIDDEN_E.search(word) else word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search(r"(?:ss|zz|x|o|[cs]h)es$", word):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def plain_of_gerund(word: str) -> str:
    """The plain form of a verb in -ing: `running` is `run`, `sharing` is `share`."""
    stem = word.lower().removesuffix("ing")
    if stem in _BASES or f"{stem}e" in _BASES:
        return stem if stem in _BASES else f"{stem}e"
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem


def is_past(word: str) -> bool:
    """Whether a word in lower case looks like a past tense or participle."""
    return word in _PARTICIPLES or (
        word.endswith("ed") and len(word) > 4 and word not in ("hundred", "indeed", "exceed")
    )


def plain_pasts(text: str) -> str:
    """The plain forms of the verbs of a text that are in the past: `decide` of `what they decided`."""
    return " ".join(base(bare(w)) for w in text.split() if is_past(bare(w)))


def is_verb(word: str) -> bool:
    """Whether a word in lower case is a common verb in its plain form."""
    return word in _BASES


def is_name(word: str) -> bool:
    """Whether a word is written like a name, or is a number."""
    return word[:1].isupper() or word[:1].isdigit()


def bare(word: str) -> str:
    """A word in lower case, without the marks around it."""
    return word.strip(_MARKS).lower()


def spaced(words: list[str]) -> str:
    """Words as text."""
    return " ".join(words)
