"""What Markdown states: titles, and front matter that is no strict YAML."""

from __future__ import annotations

import time

import pytest

from quern.jobs.text.markdown import given_markdown, without_mdx


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
    text = f"{before}{heading}\nThe mill has 3 doors.\n"
    assert given_markdown(text.encode(), None, "a.md").fields["title"] == "Mill guide"


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
        ("bad_value", name) for name in ("title", "author", "lang")
    ]


@pytest.mark.parametrize("matter", ["---\ntitle: Mill\nNo end.\n", "---\n{title: [\n---\nText.\n"])
def test_front_matter_that_stays_text_is_told(matter: str) -> None:
    given = given_markdown(matter.encode(), None, "a.md")
    assert given.fields["text"] == matter
    assert [reason for reason, _ in given.unread] == ["bad_value"]


MDX = """import { Card } from '../card'

export const meta = {
  tags: ['a'],

  open: true
}

# Mill guide

{/* a remark */}
<Tabs items={["one", { two: ">" }]}>
<Note type="tip">Oil the *axle* in May.</Note>
</Tabs>

export the list by hand, with `<Card />` in <b>it</b>. See <https://mill.example>.

```jsx
<Card />
```
"""


def test_statements_and_tags_of_mdx_are_no_text_and_code_is() -> None:
    fields = given_markdown(MDX.encode(), None, "a.mdx", mdx=True).fields
    assert fields["title"] == "Mill guide"
    assert [line for line in fields["text"].split("\n") if line] == [
        "# Mill guide",
        "Oil the *axle* in May.",
        "export the list by hand, with `<Card />` in it. See <https://mill.example>.",
        "```jsx",
        "<Card />",
        "```",
    ]


@pytest.mark.parametrize("piece", ["<A b={", "`", "```\n", "{/*", "import a,\n\n ", "<a '", "{{{", "<a b={{{"])
def test_mdx_without_ends_takes_no_time(piece: str) -> None:
    began = time.process_time()
    without_mdx(piece * 20_000)
    assert time.process_time() - began < 5
