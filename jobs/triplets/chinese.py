"""What Chinese sentences state: subject, a verb that relates, and what stands behind it up to the next mark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from quern.jobs.triplets.statement import Part, Passage, Statement
from quern.schemas.words.scripts import HAN

# Verbs that relate one thing to another, each read whole; the longer of two with one beginning comes first.
_VERBS: Final = (
    "出生于|毕业于|成立于|创立于|创建于|始建于|修建于|建成于|建于|位于|坐落于|位处|起源于|来自|就读于|任职于|逝世于|发行于|改编自|隶属于|隶属|属于|取自|"
    "创办了|创立了|创建了|设计了|发明了|获得了|获得|荣获|担任|出任|又称为|又称|又名|别名|亦称|简称|原名|本名|全名|现名|改名为|更名为|命名为|全长|总长|"
    "长约|面积约?为|面积约|人口约?为|人口约|海拔约?为|高度为|总部设于|总部位于|首都是|导演是|作者是|达到|成为|包括|共有|拥有|设有|是"
)
_MARKS: Final = '，。；：！？、,;:!?（）()《》“”"\n'
_SUBJECT: Final = rf"(?:《[^》]{{1,24}}》|“[^”]{{1,16}}”|[{HAN}A-Za-z0-9·]{{2,16}}?)(?:（[^（）]{{1,40}}）)?"
_CLAUSE: Final = re.compile(
    rf"(?P<subject>{_SUBJECT})，?(?P<relation>{_VERBS})(?P<object>(?:《[^》]{{1,24}}》|[^{_MARKS}]){{1,40}})"
)
_ASIDE: Final = re.compile(r"（[^（）]*）$")
# A subject with one of these is part of a clause, or points to something that is not named in it.
_NO_SUBJECT: Final = re.compile(
    "[的了是着过他她它我你说而随或或前后时]|认为|们$|[于为](?=.*\\d)|^(?:另|甚至|拥有|\\d{4}年|这|那|其|该|此|他|她|它|我|你|您|本|在|由|从|于|当|而|但|并|也|又|还|就|都|如果|因|为|对|据|经|以|有|各|每|目前|主要|同时|现|曾|后|不|可|则|所|最|第)"
)
_NO_OBJECT: Final = re.compile(
    "^(?:否|因为|由于|为了|不|这|那|此|其|他|她|它|我|你|在|从|一样|什么|谁|怎|如何|指|来自)|[吗呢吧的]$|如何|是"
)
_ADVERB: Final = re.compile(
    "(?:目前|最早|最初|以往|一起|原本|当时|当年|全部|分别|曾经|曾|均|皆|都|则|也|亦|就|便|又|还|即|正|现|本|总|主要|同时|同|不|可能|可|应该|应|仍然|仍|已经|已|共|并|只|一直|大多|后来|后|才|将|会|能|分)+$"
)


def chinese_statements(passage: Passage) -> Iterator[Statement]:
    """What the Chinese sentences of a chunk state in their first clause."""
    text = passage.text
    if text.isascii():
        return
    for span in passage.sentences:
        found = _CLAUSE.match(text, span.start, span.end)
        if found is None or text[span.end - 1 : span.end] in "？?":
            continue
        subject = Part(found.start("subject"), found.start("subject") + len(_ASIDE.sub("", found["subject"])))
        if adverb := _ADVERB.search(subject.of(text)):
            if adverb[0] in ("不", "可能", "可", "应该", "应", "将", "会", "能"):
                continue
            subject = Part(subject.start, subject.end - len(adverb[0]))
        value = found["object"].rstrip()
        if len(subject.of(text)) < 2 or _NO_SUBJECT.search(subject.of(text)) or _NO_OBJECT.search(value):
            continue
        relation = Part(*found.span("relation"))
        yield Statement(
            subject, relation, Part(found.start("object"), found.start("object") + len(value)), *span, "sentence"
        )
