"""Characters and lines of a text that say nothing: emoji, control characters, `Read more` and its like.

Xinyu, supplementary material C. Emoji are those of Unicode's emoji-data: characters of emoji presentation, text
symbols that a variation selector turns into emoji, and what joins them (flags, skin tones, ZWJ, keycaps, tags).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_PRESENTED: Final = (
    "\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd\u26be"
    "\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757"
    "\u2763\u2764\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a"
    "\U0001f1e6-\U0001f1ff\U0001f201\U0001f21a\U0001f22f\U0001f232-\U0001f236\U0001f238-\U0001f23a\U0001f250\U0001f251"
    "\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f7f0\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff"
)
_KEYCAP: Final = re.compile("([0-9#*])\ufe0f?\u20e3")
_SELECTED: Final = re.compile("[\u2000-\u3299\U0001f000-\U0001faff]\ufe0f")
# Private use holds the glyphs of icon fonts. Surrogates and C0/C1 controls are gone before.
_DROPPED: Final = re.compile(
    f"[{_PRESENTED}\xad\u034f\u061c\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe0e\ufe0f\ufeff"
    "\ufff9-\ufffb\ue000-\uf8ff\U000e0001-\U000e007f\U000f0000-\U0010fffd]+"
)
# Joiners shape letters of Arabic, Syriac, Mongolian and the Indic scripts; elsewhere they only hold emoji together.
_JOINED: Final = (
    "\u0620-\u06ff\u0700-\u077f\u0840-\u08ff\u0900-\u0dff\u0e80-\u109f"
    "\u1780-\u18af\u1a00-\u1b7f\ufb50-\ufdff\ufe70-\ufefc"
)
_JOINER: Final = re.compile(f"(?<![{_JOINED}])[\u200c\u200d]+")

# Lines that lead elsewhere or ask for a click. The text may have an arrow or dots around it.
_ASKS: Final = (
    "read more", "read the full (?:story|article|post)", "read full (?:story|article|post)", "continue reading",
    "keep reading", "click (?:here )?to (?:continue|read more|expand|enlarge)",
    "click here(?: for more| to learn more)?", "show more", "load more", "see more", "view more", "learn more",
    "tap to expand",
    "阅读全文", "阅读更多", "阅读原文", "查看全文", "查看更多", "展开全文", "点击查看(?:更多|全文|详情|原文)?",
    "点击(?:此处)?(?:阅读|展开)(?:更多|全文|原文)?", "点击继续(?:阅读)?", "继续阅读", "更多详情",
)  # fmt: skip
# These stand alone, or before what they lead to; never at the end of a sentence.
_LINES: Final = (
    "share(?: this(?: (?:article|story|page|post))?| on [a-z, ]{1,40})?", "tweet(?: this)?",
    "print(?: this page| this article)?", "e-?mail this(?: article| page)?", "copy link", "link copied",
    "(?:back|return) to (?:the )?top", "skip to (?:the )?(?:main )?content", "leave a (?:comment|reply)",
    "advertisement", "sponsored(?: content)?", "subscribe(?: now)?(?: to our newsletter)?",
    "sign up (?:for|to) our newsletter", "follow us(?: on [a-z, ]{1,40})?", "like what you read",
    "all rights reserved", "please (?:enable|turn on) javascript[^.]{0,80}",
    "javascript (?:is|must be) (?:disabled|enabled|required)[^.]{0,80}",
    "分享(?:到|至)?(?:微信|微博|朋友圈|QQ空间|[:：、 ])*",
    "点击分享", "返回(?:顶部|首页)", "发表评论", "扫(?:一扫|描二维码)[^。]{0,20}", "责任编辑[:：] ?\\S{1,12}", "广告",
)  # fmt: skip
_LEADS: Final = (
    "(?:read more|also read|read also|read next|more on this|延伸阅读|相关阅读|推荐阅读|更多阅读)[:：] ?.{1,160}"
)
_AROUND: Final = r"[\s\W_]{0,8}"


@lru_cache(maxsize=4)
def _patterns(phrases: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Lines that are left out, and such ends of lines."""
    asks = "|".join([*map(re.escape, phrases), *_ASKS])
    lines = "|".join([asks, *_LINES])
    end = rf"(?<=[.!?…。！？\"”’)）\]】])[ \t]*[\[(（【«»>→]*[ \t]*(?:{asks})[ \t]*[\])）】«»>→.…]*$"
    line = rf"{_AROUND}(?:(?:{lines}){_AROUND}|{_LEADS})"
    return re.compile(line, re.IGNORECASE), re.compile(end, re.IGNORECASE)


def without_noise(line: str, phrases: tuple[str, ...] = ()) -> str:
    """`line` without what asks for a click, in words listed here or `phrases`; empty where nothing else is there."""
    noise, end = _patterns(phrases)
    if len(line) <= 180 and noise.fullmatch(line):
        return ""
    cut = end.search(line, max(0, len(line) - 60))
    return line[: cut.start()] if cut else line


def without_emoji(text: str) -> str:
    """`text` without emoji, format characters and glyphs of icon fonts; a keycap leaves its digit."""
    if text.isascii():
        return text
    if "\ufe0f" in text or "\u20e3" in text:
        text = _SELECTED.sub("", _KEYCAP.sub(r"\1", text))
    return without_joiners(_DROPPED.sub("", text))


def without_joiners(text: str) -> str:
    """`text` without joiners outside of the scripts whose letters they shape."""
    return _JOINER.sub("", text) if "\u200c" in text or "\u200d" in text else text
