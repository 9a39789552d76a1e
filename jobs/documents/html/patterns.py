"""trafilatura's XPath patterns, evaluated without XPath: the same elements in the same order in a third of the time.

trafilatura finds an article, and what to leave out of it, by patterns such as
`.//*[self::div or self::p][contains(@class, 'a') or re:test(@id|@class, 'b')]`. Evaluating these takes a quarter of
a page's time, because `re:test` calls Python through the XPath engine for every element. What such a pattern says of
an element depends only on its name and attributes, and few values of an attribute differ: here each pattern is read
into tests of attribute values, whose answers are remembered. A pattern of any other form stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from lxml.etree import XPath
from lxml.html import HtmlElement
from trafilatura import xpaths

Test = Callable[[str], bool]

# Lists that are evaluated for every page; of a match of `BODY_XPATH` trafilatura takes the first element alone.
_ALL: Final = ("OVERALL_DISCARD_XPATH", "TEASER_DISCARD_XPATH", "PRECISION_DISCARD_XPATH", "DISCARD_IMAGE_ELEMENTS")
_FIRST: Final = ("BODY_XPATH",)
_REMEMBERED: Final = 4096
_LONGEST: Final = 200
_ANY: Final = ("*",)

_PATH: Final = re.compile(
    r"\s*(?P<first>\()?\s*\.//(?:(?P<name>\w+)|\*(?:\[(?P<names>\s*self::\w+(?:\s+or\s+self::\w+)*\s*)\])?"
    r"\[(?P<tests>.*?)\])\s*(?(first)\)\s*\[1\]|(?:\[1\])?)\s*",
    re.S,
)
_VALUE: Final = (
    r"(?:translate\(\s*@(?P<mapped>[\w-]+)\s*,\s*'(?P<old>[^']*)'\s*,\s*'(?P<new>[^']*)'\s*\)"
    r"|@(?P<one>[\w-]+)(?:\|@(?P<other>[\w-]+))?)"
)
_TEST: Final = re.compile(
    rf"\s*(?:(?P<call>contains|starts-with|re:test)\(\s*{_VALUE}\s*,\s*'(?P<wanted>[^']*)'\s*(?:,\s*'(?P<flag>i)'\s*)?\)"
    r"|@(?P<name>[\w-]+)(?:\s*=\s*'(?P<equal>[^']*)')?)\s*(?P<more>\bor\b|$)",
    re.S,
)


@dataclass(frozen=True, eq=False)
class Condition:
    """One test of a pattern.

    Attributes:
        names: Attributes; that of several which comes first in an element's markup is tested (XPath 1.0, 4.2).
        holds: Whether a value passes.
    """

    names: tuple[str, ...]
    holds: Test


class _Held(dict[str, tuple[Condition, ...]]):
    """Which conditions hold for a value; it remembers a bounded number of short values."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        super().__init__()
        self.conditions = conditions

    def __missing__(self, value: str) -> tuple[Condition, ...]:
        found = tuple(condition for condition in self.conditions if condition.holds(value))
        if len(value) <= _LONGEST:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[value] = found
        return found


class Pattern:
    """A pattern that is called with an element, as an `XPath` is, and returns the matching elements inside it."""

    def __init__(self, tags: Sequence[str], conditions: Sequence[Condition], *, first: bool) -> None:
        """Args: `tags` that match, all if none; `conditions`, one of which must hold; `first`: one match is enough."""
        self._tags, self.first, self._always = tuple(tags) or _ANY, first, not conditions
        self._held = _by_name(conditions)

    def __call__(self, tree: HtmlElement) -> list[HtmlElement]:
        """Matching descendants in the order of the document; only the first where one is enough."""
        elements = tree.iterdescendants(*self._tags)
        matching = elements if self._always else filter(self.matches, elements)
        return list(islice(matching, 1 if self.first else None))

    def matches(self, element: HtmlElement) -> bool:
        """Whether one of the conditions holds for an element of a tag that matches."""
        return self.holds(element.items())

    def holds(self, attributes: Sequence[tuple[str, str]]) -> bool:
        """Whether one of the conditions holds for these attributes of an element, in the order of its markup."""
        for name, value in attributes:
            held = self._held.get(name)
            if held is not None and (conditions := held[value]) and _is_told(name, conditions, attributes):
                return True
        return False

    def fits(self, tag: str) -> bool:
        """Whether elements of a tag may match."""
        return tag in self._tags or self._tags == _ANY

    @property
    def conditions(self) -> list[Condition]:
        """All conditions."""
        return [*dict.fromkeys(c for held in self._held.values() for c in held.conditions)]


def _is_told(name: str, conditions: Sequence[Condition], attributes: Sequence[tuple[str, str]]) -> bool:
    """Whether one of `conditions`, which hold for the attribute `name`, is about it and not about one before it."""
    return any(name == next(key for key, _ in attributes if key in c.names) for c in conditions)


class Patterns:
    """Several patterns whose matches are sought in one walk: few elements have an attribute that any speaks of."""

    def __init__(self, patterns: Sequence[Any]) -> None:
        """Args: `patterns` as `quick` makes them; those of another form are evaluated one after another."""
        self._patterns = patterns
        walked = [pattern for pattern in patterns if isinstance(pattern, Pattern) and not pattern.first]
        self._owners = {condition: pattern for pattern in walked for condition in pattern.conditions}
        self._held = _by_name([*self._owners])

    def __call__(self, tree: HtmlElement) -> list[list[HtmlElement]]:
        """Matches of each pattern among the descendants of an element, in the order of the document."""
        held, found = self._held, {pattern: list[HtmlElement]() for pattern in self._owners.values()}
        for element in tree.iterdescendants():
            attributes = element.items()
            for name, value in attributes:
                if name in held and held[name][value]:
                    for pattern in self._matching(attributes):
                        if pattern.fits(element.tag):
                            found[pattern].append(element)
                    break
        return [found[pattern] if pattern in found else pattern(tree) for pattern in self._patterns]

    def _matching(self, attributes: Sequence[tuple[str, str]]) -> set[Pattern]:
        held = ((name, c) for name, value in attributes if name in self._held for c in self._held[name][value])
        return {self._owners[c] for name, c in held if _is_told(name, (c,), attributes)}


def _by_name(conditions: Sequence[Condition]) -> dict[str, _Held]:
    names = dict.fromkeys(name for condition in conditions for name in condition.names)
    return {name: _Held([c for c in conditions if name in c.names]) for name in names}


def quick(xpath: XPath, *, first: bool = False) -> Any:
    """`xpath` as a `Pattern`; `xpath` itself where its form is another. `first`: its caller takes only one match."""
    path = _PATH.fullmatch(xpath.path)
    if path is None:
        return xpath
    conditions = _conditions(path["tests"])
    tags = [path["name"]] if path["name"] else re.findall(r"self::(\w+)", path["names"] or "")
    only_first = first or path["first"] is not None
    # A trailing `[1]` means the first match of each parent: the same only where the first of all is wanted.
    if conditions is None or (xpath.path.rstrip().endswith("[1]") and not only_first):
        return xpath
    return Pattern(tags, conditions, first=only_first)


def every(xpaths: Sequence[XPath]) -> list[Any]:
    """`xpaths` that find each match where they name the first; those of another form stay as they are."""
    return [_every(xpath) for xpath in xpaths]


def _every(xpath: Any) -> Any:
    path = _PATH.fullmatch(xpath.path) if isinstance(xpath, XPath) else None
    if path is None:
        return xpath
    conditions = _conditions(path["tests"])
    tags = [path["name"]] if path["name"] else re.findall(r"self::(\w+)", path["names"] or "")
    return xpath if conditions is None else Pattern(tags, conditions, first=False)


def quick_all(xpaths: Sequence[XPath]) -> list[Any]:
    """Each of `xpaths` as a `Pattern` where its form allows that."""
    return [quick(x) if isinstance(x, XPath) else x for x in xpaths]


def _conditions(text: str | None) -> list[Condition] | None:
    """The tests of a predicate, joined by `or`; None if they are of another form."""
    conditions: list[Condition] = []
    more: object = text
    at = 0
    while more:
        test = _TEST.match(text or "", at)
        condition = test and _condition(test)
        if test is None or condition is None:
            return None
        conditions.append(condition)
        more, at = test["more"], test.end()
    return conditions


def _condition(test: re.Match[str]) -> Condition | None:
    """A condition; None where an attribute that is absent, which XPath reads as an empty string, would meet it."""
    if test["name"]:
        equal = test["equal"]
        return Condition((test["name"],), lambda value: equal is None or value == equal)
    holds = _call(test["call"], test["wanted"], re.I if test["flag"] else re.NOFLAG)
    if holds is None or holds(""):
        return None
    if test["mapped"]:
        if len(test["old"]) != len(test["new"]):
            return None
        if len(test["old"]) == 1:  # in a tenth of the time of a table
            return Condition((test["mapped"],), lambda value: holds(value.replace(test["old"], test["new"])))
        table = str.maketrans(test["old"], test["new"])
        return Condition((test["mapped"],), lambda value: holds(value.translate(table)))
    return Condition((test["one"], test["other"]) if test["other"] else (test["one"],), holds)


def _call(call: str, wanted: str, flags: re.RegexFlag) -> Test | None:
    if call == "re:test":
        try:
            search = re.compile(_with_shared_beginnings(wanted), flags).search
        except re.error:
            return None
        return lambda value: search(value) is not None
    if flags:
        return None
    return (lambda value: wanted in value) if call == "contains" else (lambda value: value.startswith(wanted))


def _with_shared_beginnings(pattern: str) -> str:
    """The same choice of words with their common beginnings written once: `re` tries each word at each place.

    Raises:
        re.error: It is no regular expression.
    """
    parts = re.split(r"\|(?![^(]*\))", pattern)
    try:
        for part in parts:
            re.compile(part)
    except re.error:
        return pattern  # a choice within another
    words = [part for part in parts if re.fullmatch(r"[\w -]+", part)]
    return "|".join([_choice(words), *(part for part in parts if part not in words)]) if len(words) > 1 else pattern


def _choice(words: Sequence[str]) -> str:
    """A regular expression of words, of which those that begin with another say no more than it."""
    if "" in words:
        return ""
    endings: dict[str, list[str]] = {}
    for word in words:
        endings.setdefault(word[0], []).append(word[1:])
    choices = [re.escape(letter) + _choice(rest) for letter, rest in endings.items()]
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"


def install() -> None:
    """Let trafilatura use quick patterns in this process; a second call does nothing."""
    for lists, first in ((_ALL, False), (_FIRST, True)):
        for name in lists:
            patterns: list[Any] = getattr(xpaths, name)
            patterns[:] = [quick(p, first=first) if isinstance(p, XPath) else p for p in patterns]
