"""Which images are no picture of anything, and what is said of those that are."""

from __future__ import annotations

import pytest

from quern.jobs.images.rules import Picture, description, out_by

CAPTION = "The Lady Orrin at the North Mole on Saturday"


@pytest.mark.parametrize(
    ("url", "more", "rule"),
    [
        ("https://c.example/fog.jpg", {"width": 640, "height": 480}, None),
        ("https://c.example/fog.jpg", {"width": 300, "height": 100}, "small"),
        ("https://c.example/fog-150x150.jpg", {}, "small"),
        ("https://c.example/fog.jpg?w=120", {"width": 90}, "small"),
        ("https://c.example/16x9/fog.jpg", {}, None),
        ("https://c.example/fog.jpg?w=99999999999999999999", {}, None),
        ("https://c.example/chart.SVG", {"caption": CAPTION}, "drawing"),
        ("https://c.example/pixel.gif?id=7", {}, "tracker"),
        ("https://c.example/img/siteLogo.png", {}, "icon"),
        ("https://c.example/1.png", {"alt": "公司标志"}, "icon"),
        ("https://c.example/logo.png", {"caption": "The logo that the council chose in 1931"}, None),
        ("https://c.example/fog.jpg", {"link": "https://c.example/other-story"}, "teaser"),
        ("https://c.example/fog.jpg", {"link": "https://www.c.example/x", "caption": CAPTION}, None),
        ("https://c.example/fog.jpg", {"link": "https://shop.example/", "caption": CAPTION}, "teaser"),
    ],
)
def test_what_is_too_small_or_furniture_of_its_site_is_out_by_its_rule(url: str, more: dict, rule: str | None) -> None:
    said = {"alt": None, "caption": None, "width": None, "height": None, "site": "c.example"} | more
    assert out_by(Picture(url, **said), 250, repeated=False) == rule


@pytest.mark.parametrize(
    ("alt", "caption", "said"),
    [
        (None, None, ""),
        ("A ferry in fog", None, "A ferry in fog"),
        (None, "The Lady Orrin at the Mole. (Photo: A. Name/Agency)", "The Lady Orrin at the Mole."),
        (None, "Image: the minister has agreed to a deal", "Image: the minister has agreed to a deal"),
        ("The moat at Castle", "The moat at Castle Meadow. Photo by A. Name", "The moat at Castle Meadow."),
        ("A tram on a bridge", "Opening day", "Opening day. A tram on a bridge"),
    ],
)
def test_an_image_is_described_by_caption_and_text_once_and_without_who_took_it(alt, caption, said) -> None:
    assert description(alt, caption) == said
