"""A chunk as the rules read it, once for its questions and its facets: units, who speaks, what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quern.jobs.queries.rules import chinese
from quern.jobs.queries.rules.pronouns import kind_of
from quern.jobs.queries.rules.units import Unit, dialogue_speakers, person_name, topic_words
from quern.jobs.queries.rules.wording import wording_language, words_of
from quern.jobs.text.search_form import SearchForm
from quern.schemas.words.spaces import squeeze


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
        kind: What the topic is known to be: `person`, `thing` or nothing.
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
        known = chinese.kind_of if self.language == "zh" else kind_of
        self.kind = known(self.topic, self.said)

    def before(self, number: int) -> str:
        """The unit before one, if it stands in the same paragraph."""
        return self.said[number - 1] if number and self.units[number].before else ""


def _day(time: datetime, language: str) -> str:
    return f"{time.year}年{time.month}月{time.day}日" if language == "zh" else f"{time.day} {time:%B %Y}"
