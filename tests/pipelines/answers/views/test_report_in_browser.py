"""The report in a real browser: it fits phone and desk, says nothing on the console, is accessible, and its parts work.

Needs Playwright and Debian's `chromium` (`apt-get install chromium`); without them the tests are skipped.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image

from quern.jobs.images.pictures import Jpeg
from quern.pipelines.answers.files import write_answers
from tests.pipelines.answers.views.sample_answers import ANSWERS, PHOTO

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    # One of the two images was fetched.
    pixels = io.BytesIO()
    Image.new("RGB", (64, 48), "teal").save(pixels, "JPEG")
    pictures = {PHOTO: Jpeg(pixels.getvalue(), 64, 48)}
    write_answers(ANSWERS, folder, "Answers to questions.jsonl", {"Documents": 81, "Chunks": 132}, pictures)
    return folder / "index.html"


@pytest.fixture(scope="module")
def chromium() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Visit:
    """The report as somebody sees it, and what the browser had to say or to ask of the network."""

    page: playwright.Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def shown(self) -> list[str]:
        """The numbers of the answers that are shown."""
        return self.page.locator("article.answer:visible > header > .number").all_inner_texts()


def visit(browser: playwright.Browser, report: Path, width: int = 1280, **how: object) -> Visit:
    page = browser.new_context(viewport={"width": width, "height": 900}, **how).new_page()
    page.set_default_timeout(5000)
    seen = Visit(page)
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("request", lambda request: seen.asked.append(request.url))
    page.goto(report.as_uri())
    return seen


@contextmanager
def shown(path: Path, width: int, scheme: str) -> Iterator[playwright.Page]:
    """A page in a browser of its own; in the end it must fit, be accessible, and have run and asked for nothing."""
    from axe_playwright_python.sync_playwright import Axe

    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        seen = visit(browser, path, width, color_scheme=scheme)
        yield seen.page
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert Axe().run(seen.page).violations_count == 0
        assert seen.page.title() != "ran"
        assert (seen.said, seen.asked) == ([], [path.as_uri()])
        browser.close()


@pytest.fixture
def seen(chromium: playwright.Browser, report: Path) -> Iterator[Visit]:
    """The report on a desk; the browser must have had nothing to say."""
    visited = visit(chromium, report)
    yield visited
    visited.page.context.close()
    assert visited.said == []


def test_a_picture_that_was_fetched_is_shown_with_its_words_and_the_others_are_named(seen):
    images = seen.page.locator("#q1 .images li")
    assert images.count() == 2
    shown = images.locator("img")
    assert (shown.count(), shown.evaluate("i => i.complete && i.naturalWidth")) == (1, 64)
    assert shown.get_attribute("alt") == "A pier of iron and wood"
    assert "beside “The Tollen Bridge: 60.8 against" in images.first.inner_text()
    assert images.last.locator("a").first.inner_text() == "Plan of the pier's landing stage"


def unfold(page: playwright.Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    page.wait_for_function("document.querySelectorAll('.path:not(.drawn)').length === 0")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_is_quiet_and_accessible_with_everything_unfolded(chromium, report, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    seen = visit(chromium, report, width, color_scheme=scheme)
    unfold(seen.page)
    assert seen.page.locator(".path svg").count() == sum(bool(a.hits) for a in ANSWERS)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(seen.page)
    assert found.violations_count == 0, found.generate_report()
    assert seen.said == []
    assert seen.asked == [report.as_uri()]
    seen.page.context.close()


def test_a_graph_is_drawn_when_it_is_opened_and_its_words_stay_in_their_boxes(seen):
    page = seen.page
    assert page.locator("svg").count() == 0
    page.locator("#q1 .path > summary").click()
    drawing = page.locator("#q1 .path svg")
    assert drawing.locator(".node .value").all_text_contents() == ["0.83", "0.71", "0.55"]
    assert drawing.locator(".node text").first.text_content().startswith("How much did the deck")
    spill = """boxes => boxes.flatMap(box => {
        const edge = box.querySelector("rect").getBoundingClientRect();
        return [...box.querySelectorAll("text:not(.value)")]
            .map(text => text.getBoundingClientRect())
            .filter(text => text.right > edge.right || text.left < edge.left || text.bottom > edge.bottom);
    })"""
    assert drawing.locator("g[transform]").evaluate_all(spill) == []
    assert drawing.locator(".edges path").count() == 7
    drawing.locator("a").first.click()
    assert page.url.endswith("#q1-h1")
    assert page.locator("#q1-h1").is_visible()


def test_a_timeline_is_told_when_it_is_opened_zoomed_by_key_and_mouse_and_leads_to_the_marked_sentence(seen):
    page = seen.page
    part, scale = page.locator("#q1 .timeline"), page.locator("#q1 .timeline .scale")
    assert part.locator("li").count() == 0
    page.locator("#q1 .timeline > summary").click()
    assert part.locator("time").all_inner_texts() == ["1912", "3 May 1949", "Nov 2024", "1 Jul 2025"]
    assert (scale.locator("circle").count(), scale.locator("rect").count()) == (2, 2), (
        "points, and spans with soft ends"
    )
    scale.press("+")
    scale.press("End")
    assert part.locator("time:visible").all_inner_texts() == ["Nov 2024", "1 Jul 2025"]
    assert part.get_by_role("status").inner_text() == "2 of 4 events in view"
    scale.press("0")
    scale.hover(position={"x": 2, "y": 20})
    page.mouse.wheel(0, -300)
    assert part.locator("time:visible").count() == 2, "a wheel zooms where the scale has the focus"
    part.get_by_role("button", name="Show all events").click()
    part.get_by_role("link", name="It was repaired twice").click()
    assert page.locator("#q1 mark.event").all_inner_texts() == ["It was repaired twice, in 1949 and 1987"]
    assert page.locator("#q1 .evidence mark.event").is_visible()


@pytest.mark.parametrize(
    ("choose", "shown"),
    [
        (lambda page: page.locator("#filter").fill("pier tollen"), ["1"]),
        (lambda page: page.get_by_role("radio", name="Not answered").check(), ["2", "3"]),
        (lambda page: page.locator("#by-status").select_option("Refused"), ["3"]),
        (lambda page: page.locator("#by-type").select_option("null"), ["2"]),
        (lambda page: page.locator("#by-site").select_option("courier.example"), ["1", "2", "4"]),
        (lambda page: page.locator("#from").fill("2025-01-01"), ["1", "2"]),
        (lambda page: (page.locator("#least").fill("10"), page.locator("#most").fill("70")), ["2", "4"]),
    ],
    ids=["words", "found", "status", "type", "site", "date", "evidence"],
)
def test_filters(seen, choose, shown):
    page = seen.page
    page.locator(".more > summary").click()
    choose(page)
    page.locator("#matches", has_text=f"{len(shown)} of 4 shown").wait_for()
    assert seen.shown() == shown
    page.locator(".clear").click()
    assert len(seen.shown()) == 4


def test_without_its_script_it_is_read_all_the_same(chromium, report):
    page = visit(chromium, report, java_script_enabled=False).page
    page.locator("#q1 .path > summary").click()
    assert page.locator("#q1 .path li").first.inner_text().startswith("0.83 How much did the deck cost?")
    page.locator("#q2 .evidence > summary").click()
    assert page.locator("#q2 .passage").first.is_visible()
    assert not page.locator(".filter").is_visible()
    page.context.close()


def test_words_of_the_question_lead_to_the_words_of_a_chunk_that_match_them(seen):
    page = seen.page
    assert page.locator(".align").count() == 0
    page.locator("#q1 .evidence > summary").click()
    lists = page.locator("#q1 .align")
    assert lists.locator("summary").all_inner_texts() == [
        "2 of 3 parts of the question",
        "1 of 3 parts of the question",
    ]
    lists.first.locator("summary").click()
    assert lists.first.locator("li").all_inner_texts() == [
        "cost → cost",
        "Tollen Bridge → title",
        "Wherry Pier → not here",
    ]
    lists.first.get_by_role("link", name="cost").click()
    assert page.locator("#q1-h1 mark.event").all_inner_texts() == ["cost"]
