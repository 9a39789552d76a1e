"""The images of an answer, made ready to be shown: with their words, their source, and why they stand there.

Nothing is loaded from where they are: a picture is shown where it was fetched before (`images.fetch`), made small and
encoded anew; else its words lead to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from quern.jobs.images.pictures import Jpeg
from quern.pipelines.answers.views.passages import web_address
from quern.schemas.answers import Answer, AnswerImage
from quern.schemas.words.lines import one_line, shortened

_NAMELESS = "Image without a caption"
# Characters of a sentence by which a reader knows it, and of an alternative text that is read aloud.
_SENTENCE, _READ = 60, 250


class Pictures(Protocol):
    """Pictures that were fetched."""

    def get(self, url: str) -> Jpeg | None:
        """The picture of this address; None where it was not fetched, or is none."""


@dataclass(frozen=True)
class Shown:
    """An image of an answer as the page shows it."""

    of: AnswerImage  # The image.
    sentence: str  # The beginning of the sentence that it stands beside.
    picture: Jpeg | None  # The picture, where it was fetched.

    @property
    def words(self) -> str:
        """What is said of it."""
        return one_line(self.of.caption or self.of.alt or "") or _NAMELESS

    @property
    def read(self) -> str:
        """What is read in its stead."""
        return shortened(self.of.alt or self.words, _READ)

    @property
    def href(self) -> str | None:
        """Its address, if a reader may follow it."""
        return web_address(self.of.image_url)

    @property
    def page(self) -> str | None:
        """The address of its page, if a reader may follow it."""
        return web_address(self.of.url)


def images_of(answer: Answer, pictures: Pictures | None = None) -> list[Shown]:
    """The images, each with the sentence that it stands beside."""
    said = dict(enumerate(answer.sentences, 1))
    return [
        Shown(
            image, shortened(said[image.sentence].text, _SENTENCE), pictures.get(image.image_url) if pictures else None
        )
        for image in answer.images
        if image.sentence in said
    ]
