"""Images that were fetched by the crawler, with its guards, become small pictures; what is none stays out."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from quern.jobs.crawl.fleet import CrawlError
from quern.jobs.images.pictures import encoded_anew
from quern.pipelines.images.pictures import PictureFolder
from quern.schemas.settings.reading import load_settings
from tests.jobs.crawl.site import Answer, Asked, Site


def photograph(width: int = 900, height: int = 600, kind: str = "PNG", mode: str = "RGBA") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), "teal").save(out, kind)
    return out.getvalue()


def rescanned(times: int) -> bytes:
    """A progressive JPEG that goes over its pixels so many times more."""
    out = io.BytesIO()
    Image.linear_gradient("L").resize((300, 300)).save(out, "JPEG", progressive=True)
    jpeg = out.getvalue()
    return jpeg[:-2] + jpeg[jpeg.rfind(b"\xff\xda") : -2] * times + jpeg[-2:]


SCRIPT = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>"


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (photograph(), (640, 427)),
        (photograph(300, 400, "GIF", "P"), (300, 400)),
        (photograph(260, 2600, "JPEG", "L"), (64, 640)),
        (rescanned(3), (300, 300)),
        (rescanned(200), None),
        (photograph(640, 240), None),
        (photograph()[:200], None),
        (photograph(9_000, 9_000, mode="1"), None),
        (SCRIPT, None),
        (b"", None),
        (b"\x89PNG\r\n\x1a\n" + bytes(5_000_000), None),
    ],
)
def test_what_is_fetched_is_a_small_jpeg_of_colours_alone_or_nothing(body: bytes, size: tuple[int, int] | None) -> None:
    made = encoded_anew(body, 250)
    assert (made and (made.width, made.height)) == size
    if made is not None:
        again = Image.open(io.BytesIO(made.body))
        assert (again.format, again.mode, again.size) == ("JPEG", "RGB", size)
        assert not again.getexif()


@pytest.fixture
def site() -> Iterator[Site]:
    def route(asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            return Answer("User-agent: *\nDisallow: /private/", headers={"Content-Type": "text/plain"})
        if asked.path == "/moved.jpg":
            return Answer(status=302, headers={"Location": "/img/fog.jpg"})
        if asked.path == "/drawing.svg":
            return Answer(SCRIPT, headers={"Content-Type": "image/svg+xml"})
        if asked.path == "/page.jpg":
            return Answer("<p>no picture</p>")
        return Answer(photograph(kind="JPEG", mode="RGB"), headers={"Content-Type": "image/jpeg"})

    served = Site(route)
    yield served
    served.close()


def test_where_the_crawler_fails_answers_have_no_pictures_this_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> dict[str, object]:
        raise CrawlError("crawl process 0 ended with code 1")

    monkeypatch.setattr("quern.pipelines.images.pictures.visit", failing)
    pictures = PictureFolder(tmp_path, load_settings(None, ["crawl.contact=mill@quern.example"]))
    pictures.fetch(["http://c.example/fog.jpg"])
    assert pictures.get("http://c.example/fog.jpg") is None
    assert not list((tmp_path / "pictures").iterdir()), "it is asked for again"


def test_images_are_fetched_once_as_robots_allow_and_from_no_private_network(site: Site, tmp_path: Path) -> None:
    crawl = {"contact": "mill@quern.example", "delay": 0, "retries": 0}
    reached = {f"c.example:{port}": site.address for port in (80,)}
    settings = load_settings(None, [f"crawl.{name}={value}" for name, value in crawl.items()])
    settings = settings.model_copy(
        update={"crawl": settings.crawl.model_copy(update={"connect_to": reached, "allow_private": ("127.0.0.0/8",)})}
    )
    pictures = PictureFolder(tmp_path, settings)
    paths = ("img/fog.jpg", "moved.jpg", "private/fog.jpg", "drawing.svg", "page.jpg")
    urls = [*(f"http://c.example/{path}" for path in paths), "http://10.0.0.1/fog.jpg", "file:///etc/passwd"]
    pictures.fetch(urls)
    found = [pictures.get(url) for url in urls]
    assert [bool(picture) for picture in found] == [True, True, False, False, False, False, False]
    assert found[0] is not None
    assert (found[0].width, found[0].height) == (640, 427)
    assert found[0].source.startswith("data:image/jpeg;base64,/9j/")
    asked = site.counts()
    assert asked["c.example/private/fog.jpg"] == 0
    pictures.fetch(urls)
    assert site.counts() == asked
