"""A chunk as the rules read it: units, language, who speaks, what it is about; and how alike two texts are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quern.jobs.queries.rules.units import STOP_WORDS, WORD, Unit, dialogue_speakers, person_name, topic_words
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.lines import squeeze
from quern.schemas.words.scripts import HAN_CHARACTER, KANA_OR_HANGUL


class Reading:
    """What is known of a chunk before it is asked about.

    Attributes:
        text: The chunk.
        topic: What its document is about, in the form in which sentences are asked about; may be empty.
        units: Its units.
        form: That form; answers are quoted as they stand.
        said: Each unit in it.
        words: Words of each unit.
        language: Language of the questions.
        day: Day of publication in that language; may be empty.
        speakers: Who speaks, in order of their names.
        topics: Words that say what the chunk is about, the most frequent first; of English alone.
    """

    def __init__(
        self, text: str, topic: str, published_at: datetime | None, units: Sequence[Unit], form: SearchForm
    ) -> None:
        self.text, self.units, self.form = text, units, form
        self.topic = squeeze(form(topic))
        self.said = [squeeze(form(text[u.start : u.end])) for u in units]
        self.words = [words_of(said) for said in self.said]
        self.language = wording_language(text)
        self.day = _day(published_at, self.language) if published_at else ""
        self.speakers = sorted(person_name(s) for s in dialogue_speakers(text))
        spoken = {w for s in self.speakers for w in (*s.lower().split(), s.lower().replace(" ", ""))}
        self.topics = [w for w in topic_words(text) if w not in spoken] if self.language == "en" else []


def _day(time: datetime, language: str) -> str:
    return f"{time.year}年{time.month}月{time.day}日" if language == "zh" else f"{time.day} {time:%B %Y}"


def wording_language(text: str) -> str:
    """`zh`, `en`, or nothing where questions can be worded in neither."""
    if len(HAN_CHARACTER.findall(text)) > 0.3 * len(WORD.findall(text)):
        return "" if len(KANA_OR_HANGUL.findall(text)) > 0.05 * len(text) else "zh"
    words = WORD.findall(text.lower())
    known = sum(map(STOP_WORDS.__contains__, words))
    # Least share of English function words in an English text.
    return "en" if (text.isascii() and len(words) < 12) or known > 0.1 * len(words) else ""


def words_of(text: str) -> frozenset[str]:
    """The different words of `text`, in lower case; of Chinese, Japanese and Korean the characters."""
    return frozenset(WORD.findall(text.lower()))


def alike(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """Whether the Jaccard similarity of two sets of words is at least `least`."""
    shared = len(one & other)
    return shared >= least * (len(one) + len(other) - shared)
