"""Whether a Chinese question stands alone, and what is asked where no sentence gives a question."""

from __future__ import annotations

import re
from typing import Final

# What joins a clause to the one before it, and can be left out.
_JOINS_BEFORE: Final = re.compile(
    r"(?:然而|不过|此外|另外|因此|所以|于是|随后|之后|此后|当时|同时|后来|最终|最后|最初|起初|目前|现在|如今|另|但是|但|而且|而)(?=[^，。；])"
)
# What makes a clause half of a sentence.
JOINS: Final = re.compile(
    r"当(?![地代年选局事])|即使|尽管|虽|由于|因为|至(?![于少])|直到|自(?!己|然|由|治)|随着|鉴于|根据|按照|除|加上|例如|比如|据|对于|关于|为了|与|和|及"
    r"|或|以(?!色列)|除了|到|经(?!济)|从|若|如|把|将|被|在|于|唯|只|本(?=[辑片书剧作鱼种集曲站校队线馆刊])|一旦|只要|不但|不仅|并|也|还|又|则|且|这|那|此|该|其|它|他|她|我|你|您|牠|祂"
)
# What ends a clause that only says when or where, or is cut before its object.
SETS: Final = re.compile(
    r"(?:[之以]?[后前]|时|时候|期间|中|上|下|里|内|间|外|等|来|为|以|将|与|和|及|的|是|有|在|于|、)$"
)
_HALF: Final = re.compile(
    r"什么时候(?:时(?!间)|[代的度届版至到之来起－—～-]|前(?!往)|后)|哪里(?:内|外|的$)|多少.{0,6}(?:多少|什么时候)|^什么时候？?$|^(?:于|在|到|至)?什么时候.{0,3}$"
    r"|我们|(?<!其)[他她它牠]|这里|那里|[a-z]{2,} ?[,.:] ?[A-Z\d]|_|[(（《「【]"
)
_SUBJECT: Final = re.compile(
    r"^(?P<name>[\u4e00-\u9fffA-Za-z0-9·・-]{2,12}?)(?:是|为|于|在|被|由|将|获|也|曾|已|亦|有|会|便|就|则|因|以|从|向|不|可|能|成|改|开始|主要|[（(])"
)
_QUOTED: Final = re.compile("[《「“](?P<name>[^《》「」“”，。！？]{2,12})[》」”]")
_LONGEST_NAME: Final = 12  # Characters.
_NO_SUBJECT: Final = re.compile(
    r"\d|.*[年月日时后前中上下里内的了着过等样以就并也]$|.{0,3}(?:时候|期间)|第|某|每|各|很|最|更|所|一|两者|二者|双方|之|均|主要|力|全|皆|曾|亦|只|原|后|前|先|再|其|有|是|为|无|没|可|能|会"
)
_ENTRY: Final = re.compile(
    r"^《?(?P<name>[\u4e00-\u9fffA-Za-z0-9·・]{2,12}?)》?(?:(?:[（(][^（）()]*[）)])?(?:，(?:又|亦|字|号|本名|原名|别名|也|即|全|学名|英文|简称|俗)|是)"
    r"|[（(]|，[^，。]{2,14}人[。，])"
)


def joined_off(question: str) -> str:
    """The question without the word that joined its clause to the one before."""
    found = _JOINS_BEFORE.match(question)
    return question[found.end() :] if found else question


def stands(body: str) -> bool:
    """Whether a question can be understood alone: it is no half of a sentence and points at nothing said before."""
    asks = body.removeprefix("如果").removeprefix("为什么").removesuffix("吗")
    return not JOINS.match(asks) and not _HALF.search(body) and (not body.endswith("吗") or not SETS.search(asks))


def entry_name(text: str) -> str:
    """What a text defines at its head: `羊角哀，春秋时期雍州人`; empty where it defines nothing."""
    found = _ENTRY.match(text.lstrip())
    return found["name"] if found and _is_subject(found["name"]) else ""


def about(said: str, title: str, known: str) -> str:
    """The question that asks what is told of whom or what a sentence is about; empty where that is unclear.

    Args:
        said: The sentence.
        title: Title of the document; may be empty.
        known: What the text is about; may be empty.
    """
    found = (_SUBJECT.match(joined_off(clause.strip())) for clause in re.split("[，。；：！？]", said))
    name = next((m["name"] for m in found if m and _is_subject(m["name"])), "")
    if not name and (quoted := _QUOTED.search(said)):
        name = quoted["name"]
    if not name or (title and name == title):
        name = known if len(known) <= _LONGEST_NAME else ""
    if not name:
        return ""
    return f"《{title}》里关于{name}是怎么说的？" if title and name not in title else f"关于{name}有哪些介绍？"


def _is_subject(name: str) -> bool:
    return "较" not in name and not JOINS.match(name) and not _JOINS_BEFORE.match(name) and not _NO_SUBJECT.match(name)
