"""Whether a name and an address belong together: the generator's check of itself (Know Where to Go; consistency)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from quern.jobs.reasoning.prompts import disarmed
from quern.jobs.reasoning.task import Task
from quern.jobs.sources.build import host_of
from quern.schemas.words.terms import STOP_WORDS, search_terms

_LEAST_SHARE: Final = 0.5  # Of the name's letters, that whole words of it must have in the host name.


class Agreement(BaseModel):
    """Whether a name and an address are of one source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agrees: bool


@dataclass(frozen=True)
class AgreementInput:
    """A name and an address.

    Attributes:
        name: Name of a source, as proposed.
        url: Its address, as proposed.
        stated: What the site at the address calls itself, or its home page is titled; empty where nothing is known.
    """

    name: str
    url: str
    stated: str = ""

    @property
    def identity(self) -> object:
        """All that the verdict depends on."""
        return [self.name, self.url, self.stated]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {"name": disarmed(self.name), "url": disarmed(self.url), "stated": disarmed(self.stated[:300])}


PROMPT = """\
Is {{ url }} the home page of "{{ name }}"?
{% if stated %}The site calls itself: {{ stated }}
{% endif %}
Return JSON: {"agrees": true or false}
"""


def agreement(given: AgreementInput) -> Agreement:
    """By rule: the host is named so, or its words or first letters are in the host name, or the site says the name."""
    host = host_of(given.url).removeprefix("www.")
    words = [w for w in search_terms(given.name).split() if w not in STOP_WORDS]
    if not host or not words:
        return Agreement(agrees=given.name == given.url)  # A source of the pool that has no address.
    letters, plain = re.sub(r"[^a-z0-9]", "", host), given.name.lower().removeprefix("www.")
    said = set(search_terms(given.stated).split())
    held = sum(len(w) for w in words if w in letters) / sum(map(len, words))
    first = "".join(w[0] for w in words)
    by_letters = len(first) > 1 and first in re.split(r"[^a-z0-9]+", host)
    return Agreement(agrees=plain == host or held >= _LEAST_SHARE or by_letters or set(words) <= said)


AGREEMENT: Final = Task("source_agreement", 1, PROMPT, Agreement, agreement)
