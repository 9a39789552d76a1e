"""Links that are text: sources, downloads and collections of links, not ways around the site.

A block that is all links is left out of the main text, since menus and lists of what else to read are that. They lead
to other pages of their site. What leads to a work on another site, to a file, or to a mailbox is part of what a text
says: a list of publications, a link to the recording, a contact line. Such links become plain text here, and so do
headings that fold a part of their own page out.

Chosen, not tuned: four words are more than the name of another site, which is what lists of friends and of networks
are made of. On the article extraction benchmark this gains .001 of recall and costs .001 of precision.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from lxml.etree import XPath
from lxml.html import HtmlElement

from quern.jobs.documents.html.loose_text import is_sentence
from quern.jobs.documents.html.markup import unwrap
from quern.jobs.documents.html.texts import text_of

_LINKS: Final = XPath("descendant::a[@href]")
_WEB: Final = ("http", "https")
_ELSEWHERE: Final = ("http:", "https:", "//")
_CONTACT: Final = ("mailto:", "tel:")
_FILE: Final = re.compile(r"\.(?:pdf|docx?|odt|rtf|xlsx?|pptx?|epub|zip|gpx|kml|ics|mp3|m4a|ogg)(?=[?#]|$)", re.I)
_SHARING: Final = re.compile(r"share|intent/|submit|whatsapp|[?&](?:u|url|text|link)=", re.I)
# A line that is a link to one of these asks readers to follow, to subscribe or to install.
_NETWORKS: Final = re.compile(
    r"(?:^|\.)(?:facebook|twitter|x|instagram|youtube|linkedin|pinterest|xing|tiktok|whatsapp|telegram|flipboard|threads)"
    r"\.\w+$|(?:^|\.)t\.me$|^(?:play\.google|apps\.apple|itunes\.apple|news\.google)\.com$"
)
_FOLDING: Final = ("h2", "h3", "h4", "h5", "h6", "dt")
# Least spaces between the words of a link to another site, and of one to a file.
_SPACES: Final = 3
_SPACES_OF_FILE: Final = 1
# An address that a text spells out, and the length beyond which a link is a paragraph and no headline.
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+", re.I)
_SPELT_OUT: Final = ("http", "www.")
_LONGEST_HEADLINE: Final = 150
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{10}")


def free_links(tree: HtmlElement, base: str) -> None:
    """Make plain text of the links that are part of what a page says.

    Args:
        tree: The page.
        base: Address that its links start from.
    """
    page = _Page(base)
    unwrap(tree, [link for link in _LINKS(tree) if _is_text(link, link.get("href").strip(), page)])


class _Page:
    """A page that links stand on.

    Attributes:
        base: Address that they start from.
        site: The last two labels of its host.
        own: What addresses on its host begin with.
    """

    def __init__(self, base: str) -> None:
        self.base, self.site = base, _site(base)
        host = _host(base)
        self.own = (f"https://{host}/", f"http://{host}/", f"//{host}/")


def _is_text(link: HtmlElement, href: str, page: _Page) -> bool:
    if href.startswith(_CONTACT):
        return "?" not in href  # a message that is begun for the reader is sharing
    if href.startswith("#"):
        return next(link.iterancestors(*_FOLDING), None) is not None
    file = _FILE.search(href) is not None
    inside = not file and not href.startswith(_ELSEWHERE)
    text = text_of(link)
    # Most links are short and lead to pages of their site: they are told without a look at their words.
    if inside and len(text) <= _LONGEST_HEADLINE and not text.lstrip().lower().startswith(_SPELT_OUT):
        return False
    words = " ".join(text.split())
    if _ADDRESS.fullmatch(words) or (len(words) > _LONGEST_HEADLINE and is_sentence(words)):
        return True
    spaces = words.count(" ")
    least = _SPACES_OF_FILE if file else _SPACES
    # Addresses that need not be taken apart.
    if inside or (not file and href.startswith(page.own)) or (spaces < least and not _CJK.search(words)):
        return False
    try:
        there = urlsplit(urljoin(page.base, href))
    except ValueError:
        return False
    if there.scheme not in _WEB or _SHARING.search(href):
        return False
    if _FILE.search(there.path):
        return True
    if _NETWORKS.search(there.hostname or ""):
        return False
    return (spaces >= _SPACES or _CJK.search(words) is not None) and page.site not in ("", _site(href, there.hostname))


def _site(address: str, host: str | None = None) -> str:
    """The last two labels of an address's host; empty where it has none."""
    return ".".join((host or _host(address)).split(".")[-2:])


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
