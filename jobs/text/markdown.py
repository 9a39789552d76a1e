"""Documents of plain texts and Markdown: the text as it stands, and what its beginning states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt

from quern.jobs.text.charsets import decode_page
from quern.jobs.text.given_documents import Given, UnfitDocumentError, given_document
from quern.jobs.text.plain_text import printable
from quern.jobs.text.written_times import Undecided, written_time
from quern.schemas.words.lines import squeeze

_MATTER: Final = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
# A line of front matter that begins a field.
_FIELD: Final = re.compile(r"^([^\W\d][\w .-]{0,99}?)[ \t]*:(?!//)", re.MULTILINE)
_NO_END: Final = re.compile(rf"---[ \t]*\n{_FIELD.pattern[1:]}", re.MULTILINE)
# The title is the first heading of level 1, among so many characters, behind so few blocks of text: what is deeper is a
# section. Blocks alone are parsed, of which no inline mark is read.
_BLOCKS: Final = MarkdownIt("commonmark")
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])
_SILENT: Final = frozenset({"fence", "code_block", "html_block"})
# Names that people give in front matter to what a document states.
_CALLED: Final = {
    "published_at": ("published_at", "date", "published", "pubdate"),
    "modified_at": ("modified_at", "updated", "lastmod", "modified"),
    "language": ("language", "lang"),
    **{name: (name,) for name in ("doc_id", "title", "author", "url", "site", "site_name")},
}
# Front matter, and a line of it that states a time; in bytes, for a file is kept in its own encoding.
_TIME_LINE: Final = re.compile(
    rb"^((?:%s)[ \t]*:[ \t]*[\"']?)([^\"'#\s][^\"'#\r\n]{0,99})"
    % "|".join((*_CALLED["published_at"], *_CALLED["modified_at"])).encode(),
    re.MULTILINE,
)
_MATTER_LINES: Final = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n.{0,20000}?\n(?=---|\.\.\.)", re.DOTALL)
# What of MDX is no text (mdxjs.com, "What is MDX"): statements up to an empty line, comments, and tags, whose
# attributes may hold braces. Code in a line is matched first, and is text. No part is given back, and each has an end.
_BRACES: Final = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,2000}+\}){0,2000}+\}){0,2000}+\}"
_MDX: Final = re.compile(
    r"(?P<code>(?P<ticks>`++)[^`\n]{1,2000}+(?P=ticks))"
    r"|^(?:import\s+(?:[\"'{*]|[\w$]+\s*(?:,|from\b))|export\s+(?:default|const|let|var|function|async|class|[{*]))"
    r"(?:[^\n]|\n(?![ \t]*(?:\n|\Z))|\n[ \t]*\n(?=[ \t}\])])){0,20000}+"
    r"|\{/\*(?:[^*]|\*(?!/)){0,2000}+\*/\}"
    r"|</?(?:[A-Za-z][\w.:-]{0,100}+"
    rf"(?:\s(?:[^<>{{}}\"']|\"[^\"]{{0,2000}}+\"|'[^']{{0,2000}}+'|{_BRACES}){{0,2000}}+)?)?/?>",
    re.MULTILINE,
)
_FENCE: Final = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)")


def silent_spans(text: str) -> Iterator[tuple[int, int]]:
    """What of an MDX text is none: statements, comments and tags outside of code."""
    for start, end in _outside_fences(text):
        yield from (match.span() for match in _MDX.finditer(text, start, end) if match["code"] is None)


def _outside_fences(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a Markdown text that are no fenced code."""
    start = at = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            yield start, at
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence, start = "", at + len(line)
        at += len(line)
    if not fence:
        yield start, at


def without_mdx(text: str) -> str:
    """An MDX text as Markdown."""
    edges = [0, *chain.from_iterable(silent_spans(text)), len(text)]
    return "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def given_markdown(body: bytes, charset: str | None, doc_id: str, *, mdx: bool = False) -> Given:
    """The document of a Markdown file, `doc_id` where it states no id, and what it states that cannot be read."""
    text, matter, unread = _without_matter(printable(decode_page(body, charset)), mdx)
    fields = {"doc_id": doc_id, **matter, "text": text}
    try:
        document = given_document(fields)
    except UnfitDocumentError as error:  # What it states as its id is none.
        document = given_document(fields | {"doc_id": doc_id})
        document.unread.append(("bad_value", f"the document has an id of its own, not that which it states: {error}"))
    document.unread.extend(("bad_value", detail) for detail in unread)
    return document


def with_days_in_order(body: bytes, day_first: bool) -> bytes:
    """A Markdown file whose front matter states days in one order alone: `date: 03/05/2024` as 2024-05-03."""
    matter = _MATTER_LINES.match(body)
    if matter is None:
        return body

    def read(line: re.Match[bytes]) -> bytes:
        value = line[2].decode("ascii", "replace")
        time = written_time(value, day_first) if written_time(value) == Undecided() else None
        return line[1] + time.isoformat().encode() if isinstance(time, datetime) else line[0]

    return _TIME_LINE.sub(read, matter[0]) + body[matter.end() :]


def _without_matter(text: str, mdx: bool) -> tuple[str, dict[str, Any], list[str]]:
    """`text` without front matter and MDX, what these and the first heading state, and what of it is no YAML."""
    fields: dict[str, Any] = {}
    unread: list[str] = []
    if match := _MATTER.match(text):
        matter, unread = _matter(match[1])
        if matter is not None:
            fields, text = dict(matter), text[match.end() :].lstrip("\n")
            for name, calls in _CALLED.items():
                if alias := next((c for c in calls if fields.get(c) is not None), None):
                    fields[name] = fields.pop(alias)
    elif _NO_END.match(text):
        unread = ["the front matter has no end, a line of --- within 20000 characters, and is kept as text"]
    if mdx:
        text = without_mdx(text).lstrip("\n")
    if "title" not in fields and (title := _title(text)):
        fields["title"] = title
    return text, fields, unread


def _title(text: str) -> str | None:
    """The heading that names the document; None where it has none."""
    before = 0
    for block in (blocks := iter(_BLOCKS.parse(text[:20_000]))):
        if block.tag == "h1" and block.level == 0:
            return squeeze(next(blocks).content)
        before += block.level == 0 and block.nesting >= 0 and block.type not in _SILENT
        if before > 5:
            break
    return None


class _Matter(yaml.SafeLoader):
    """YAML as people write it in front matter: times and strings; `No` is a title, and `1.10` a version.

    Aliases are refused: a page of them stands for more than memory holds, and one may stand for itself.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        """The next node."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias", None)
        return super().compose_node(parent, index)

    def construct_string(self, node: Any) -> Any:
        """The text, whatever a tag says that it is."""
        return self.construct_yaml_str(node)

    def construct_yaml_timestamp(self, node: Any) -> Any:
        """The time; a string where it is none, though a tag says so, or one that the calendar has not."""
        try:
            return super().construct_yaml_timestamp(node)
        except (ValueError, OverflowError, AttributeError):
            return node.value


_READ: Final = frozenset({"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"})
_Matter.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag in _READ]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Matter.add_constructor("tag:yaml.org,2002:timestamp", _Matter.construct_yaml_timestamp)
for _kind in ("int", "float", "bool", "binary", "value"):
    _Matter.add_constructor(f"tag:yaml.org,2002:{_kind}", _Matter.construct_string)


def _matter(text: str) -> tuple[Mapping[str, Any] | None, list[str]]:
    """The fields of front matter, None where it is none and so belongs to the text; and what of it is no YAML."""
    fields, fault = _yaml(text)
    if fields is not None:
        return fields, []
    # A colon in a value and a tab are common, and concern the field in which they stand alone.
    starts = [match.start() for match in _FIELD.finditer(text)]
    if text[: starts[0] if starts else None].strip():
        return None, [f"what is between the lines of --- is no YAML, and is kept as text: {fault}"] if fault else []
    entries: dict[str, Any] = {}
    unread: list[str] = []
    for start, end in pairwise([*starts, len(text)]):
        entry = text[start:end].expandtabs()
        fields, fault = _yaml(entry)
        if fields is None:
            name, _, value = entry.partition(":")
            value = squeeze(value)
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            fields = {name.strip(): value[1:-1] if quoted else value}
            unread.append(f"{name.strip()} of the front matter is no YAML, and is read as it stands: {fault or value}")
        entries.update(fields)
    return entries, unread


def _yaml(text: str) -> tuple[dict[str, Any] | None, str | None]:
    """The fields of a text of YAML, None where it has none; and why it cannot be read."""
    try:
        document = yaml.load(text, _Matter)  # noqa: S506 - a safe loader that reads even less
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, squeeze(str(error))
    return ({str(name): value for name, value in document.items()} if isinstance(document, dict) else None), None
