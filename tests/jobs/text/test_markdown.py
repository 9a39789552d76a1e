"""What Markdown states: titles, and front matter that is no strict YAML."""

from __future__ import annotations

import pytest

from quern.jobs.text.markdown import given_markdown, markdown_text


@pytest.mark.parametrize(
    ("before", "heading"),
    [
        ("~~~sh\n# start the mill\nmill start\n~~~\n\nText.\n\n", "# Mill guide #\n"),
        ("````\n```\n# inner\n```\n# still code\n````\n", "Mill guide\n===\n"),
        ("Run:\n\n    # start the mill\n    mill start\n\n", "# Mill guide\n"),
        ("<!--\n# a draft\n-->\n\n", "# Mill guide\n"),
        ("```\n" + "# a comment\n" * 60 + "```\n", "# Mill guide\n"),
        ("> # quoted\n\n", "Mill\nguide\n=====\n"),
    ],
)
def test_a_title_is_no_comment_in_code(before: str, heading: str) -> None:
    assert markdown_text(f"{before}{heading}\nThe mill has 3 doors.\n").stated == {"title": "Mill guide"}


def test_a_file_of_code_alone_has_no_title() -> None:
    assert markdown_text("```\n# not closed\nmill start\n").stated == {}


def test_a_field_of_front_matter_that_is_no_yaml_is_read_as_it_stands_with_a_warning() -> None:
    matter = "title: Mill: who owns it\nauthor: @holm\ntags:\n\t- corn\n\t- rye\ndate: 2024-05-03\nlang:en"
    given = given_markdown(f"---\n{matter}\n---\nThe mill is old.\n".encode(), None, "a.md")
    stated = ("title", "author", "published_at", "language", "text", "metadata")
    assert [given.fields[name] for name in stated] == [
        "Mill: who owns it",
        "@holm",
        "2024-05-03T00:00:00+00:00",
        "en",
        "The mill is old.\n",
        {"tags": '["corn", "rye"]'},
    ]
    assert [(reason, detail.split()[0]) for reason, detail in given.unread] == [
        ("bad_value", "title"),
        ("bad_value", "author"),
        ("bad_value", "lang"),
    ]


@pytest.mark.parametrize("matter", ["---\ntitle: Mill\nNo end.\n", "---\n{title: [\n---\nText.\n"])
def test_front_matter_that_stays_text_is_told(matter: str) -> None:
    given = given_markdown(matter.encode(), None, "a.md")
    assert given.fields["text"] == matter
    assert [reason for reason, _ in given.unread] == ["bad_value"]


def test_a_paragraph_between_two_rules_is_text() -> None:
    assert given_markdown(b"---\nJust a line.\n---\nText.\n", None, "a.md").unread == []
