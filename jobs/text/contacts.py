"""Where people are reached on the net: e-mail and IP addresses, and handles and ids on platforms."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from quern.jobs.text.spans import Span
from quern.schemas.words.scripts import HAN

# Both sides of an @ are read from the @, with limits: a long run of letters is then read once.
_LOCAL: Final = re.compile(r"[A-Za-z0-9À-ɏ._%+'-]{1,64}$")
_DOMAIN: Final = re.compile(
    r"(?:[A-Za-z0-9À-ɏ](?:[A-Za-z0-9À-ɏ-]{0,61}[A-Za-z0-9À-ɏ])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9@])"
)
_LOCAL_LIMIT, _DOMAIN_LIMIT = 64, 254
_NOT_FIRST: Final = "'.%-"
_FILES: Final = frozenset("png jpg jpeg gif webp svg css js ico bmp avif".split())
_AT_SIGN_SPELLED: Final = re.compile(r"[\[({<] ?at ?[\])}>]", re.IGNORECASE)
_SPELLED: Final = re.compile(
    r"(?<![\w.+-])[\w+-]{1,40}(?:\.[\w+-]{1,40}){0,3} ?[\[({<] ?at ?[\])}>] ?[A-Za-z0-9-]{1,60}"
    r"(?:(?:\.| ?[\[({<] ?dot ?[\])}>] ?)[A-Za-z0-9-]{1,60}){1,4}",
    re.IGNORECASE,
)

_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4: Final = re.compile(rf"(?<![\w.-])(?:{_OCTET}\.){{3}}{_OCTET}(?![\w-]|\.\d)", re.ASCII)
_IPV6: Final = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:|::)[0-9A-Fa-f:.]{1,44}(?<!\.)(?![\w:])", re.ASCII)
# A number of four parts after these is a version or a section.
_NOT_IP: Final = re.compile(
    r"(?:\bv(?:er(?:sion|\.)?)?|\brelease|\bbuild|§|\bsection|\bclause|\bchapter|版本)[ :]{0,2}$", re.IGNORECASE
)

_WEB: Final = re.compile(rf"(?:https?://|www\.)[^\s<>\"'”’），。；、：！？|{HAN}]{{1,2000}}", re.IGNORECASE)
_PROFILE: Final = re.compile(
    r"(?:https?://)?(?<![\w.@-])(?:www\.|m\.|mobile\.)?"
    r"(?:(?:twitter|x|instagram|facebook|tiktok|threads|pinterest|snapchat)\.(?:com|net)/(?:add/)?@?"
    r"|linkedin\.com/in/|t\.me/|medium\.com/@|youtube\.com/@|reddit\.com/u(?:ser)?/|weibo\.com/(?:u/)?"
    r"|space\.bilibili\.com/|vk\.com/|mastodon\.social/@|bsky\.app/profile/)(?P<name>[\w.-]{1,59}\w)",
    re.IGNORECASE | re.ASCII,
)
# What must stand somewhere in a text for the slow expressions to find anything.
_PROFILE_MARKS: Final = (".com/", ".net/", "t.me/", ".social/", ".app/")
_ACCOUNT_MARKS: Final = ("微信", "wechat", "weixin", "vx", "qq")
_NO_PROFILES: Final = frozenset(
    "share sharer sharer.php intent home search explore hashtag tag tags status watch about login signup help "
    "privacy terms policies settings groups events pages photo photos story stories reel reels tv pin dialog plugins "
    "business download jobs legal ads public people marketplace discover trending".split()
)
_HANDLE: Final = re.compile(r"(?<![\w@./:;=?&#-])@(?P<name>[A-Za-z_]\w{2,29})(?![\w@]|\.\w|\(|/\w)", re.ASCII)
# Words that CSS, documentation and code put behind an @.
_NO_HANDLES: Final = frozenset(
    "media import charset keyframes font supports include mixin extend param return returns throws author override "
    "property deprecated see link since version staticmethod classmethod dataclass abstractmethod everyone here all "
    "channel test autowired todo type interface component service controller repository bean entity nullable notnull "
    "suppresswarnings functionalinterface before after beforeeach aftereach inject injectable input output".split()
)
_CHINESE_HANDLE: Final = re.compile(rf"(?<![\w@./])@(?!所有人|全体成员|大家)[{HAN}][\w-]{{1,19}}(?=[\s:，。！,!]|$)")
_ACCOUNT_ID: Final = re.compile(
    # After `WeChat` and a space alone stand words too, such as `payments`: there an id has a digit, - or _.
    r"(?:(?:微信|WeChat|weixin|(?<![A-Za-z])vx)"
    r"(?:(?:号|公众号| ?ID)(?:\s?(?:[:：]|是|为)\s?|\s)|\s?[:：]\s?|(?:\s?[是为]\s?|\s)(?=[A-Za-z]{1,19}[\d_-]))"
    r"(?P<wechat>[A-Za-z][\w-]{5,19})"
    r"|(?<![A-Za-z])QQ(?:号码|号|群号|群)?\s?(?:[:：]|是|为)?\s?(?P<qq>[1-9]\d{4,10}))(?![\w@-])",
    re.IGNORECASE | re.ASCII,
)


def _is_remote(text: str, at: int, domain: re.Match[str]) -> bool:
    """Whether `git@host:path` is the address of a repository."""
    return text[max(0, at - 3) : at] == "git" and text[domain.end() : domain.end() + 1] in (":", "/")


def emails(text: str) -> Iterator[Span]:
    """E-mail addresses as mail services give them out, also as `name [at] host [dot] com`."""
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - _LOCAL_LIMIT), at)
        domain = _DOMAIN.match(text, at + 1, at + 1 + _DOMAIN_LIMIT)
        if local and domain and domain[0].rpartition(".")[2].lower() not in _FILES and not _is_remote(text, at, domain):
            start = local.start() + len(local[0]) - len(local[0].lstrip(_NOT_FIRST))
            if start < at:
                yield Span(start, domain.end(), "EMAIL")
        at = text.find("@", at + 1)
    for match in _SPELLED.finditer(text) if _AT_SIGN_SPELLED.search(text) else ():
        yield Span(match.start(), match.end(), "EMAIL")


def ip_addresses(text: str) -> Iterator[Span]:
    """IPv4 and IPv6 addresses, without those that name no machine of their own: unspecified, loopback, masks."""
    for match in _IPV4.finditer(text):
        start = match.start()
        if not match[0].startswith(("0.", "127.", "255.")) and not _NOT_IP.search(text, max(0, start - 12), start):
            yield Span(start, match.end(), "IP")
    for match in _IPV6.finditer(text):
        form = match[0].rstrip(":") if not match[0].endswith("::") else match[0]
        if _is_ipv6(form):
            yield Span(match.start(), match.start() + len(form), "IP")


def _is_ipv6(form: str) -> bool:
    """Whether `form` is an address of a machine; `Dead::Beef` is C++, so a short form needs digits."""
    try:
        address = ipaddress.IPv6Address(form)
    except ValueError:
        return False
    if address.is_unspecified or address.is_loopback:
        return False
    return form.count(":") == 7 or (sum(c.isdigit() for c in form) >= 2 and form.count(":") > 2)


def urls(text: str) -> list[tuple[int, int]]:
    """Spans of web addresses: digits in them are no numbers of persons."""
    return [match.span() for match in _WEB.finditer(text)]


def handles(text: str) -> Iterator[Span]:
    """Profiles on platforms, `@name`, WeChat and QQ ids."""
    for match in _PROFILE.finditer(text) if any(mark in text for mark in _PROFILE_MARKS) else ():
        if match["name"].lower() not in _NO_PROFILES:
            yield Span(match.start(), match.end(), "HANDLE")
    if "@" in text:
        for match in _HANDLE.finditer(text):
            if match["name"].lower() not in _NO_HANDLES:
                yield Span(match.start(), match.end(), "HANDLE")
        for match in _CHINESE_HANDLE.finditer(text):
            yield Span(match.start(), match.end(), "HANDLE")
    lower = text.lower()
    for match in _ACCOUNT_ID.finditer(text) if any(mark in lower for mark in _ACCOUNT_MARKS) else ():
        group = "wechat" if match["wechat"] else "qq"
        yield Span(match.start(group), match.end(group), "HANDLE")
