"""What a Chinese question asks for."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.kinds.units import DURATIONS, LENGTHS, MONEY
from quern.jobs.text.quantities import quantities
from quern.jobs.text.stems import content_words
from quern.schemas.words.patterns import lazy_pattern

_COUNTED: Final = lazy_pattern(r"(?:多少|几)(?P<unit>[^？?，。\s]{1,4})")
_CHINESE: Final[tuple[tuple[str, Kind], ...]] = (
    (r"[吗嗎][？?]?$|是否|是不是|有没有|能不能|会不会|可不可以", Kind("yes_no")),
    (
        r"为什么|为何|為什麼|为啥|因为什么|因何|(?:原因|起因|目的)(?:是|为)?(?:什么|啥)|(?:怎么|怎样|如何).{0,2}(?:引起|造成|引发|导致|起火|烧)",
        Kind("why"),
    ),
    (r"哪一?年|何年|几几年", Kind("when", grain="year")),
    (
        r"什么时候|何时|何時|什么时间|哪一?年|哪一?天|哪一?日|哪个?月|几月|几号|几时|何年|哪个?(?:年代|世纪|时期|朝代)|什么年代",
        Kind("when"),
    ),
    (r"几点", Kind("when", units=frozenset({"o'clock"}))),
    (
        r"谁|何人|哪位|哪一位|什么人|(?:人|者|员|师|老人|孩子|先生|女士|校长|厂长|船长|司机)(?:的?名字)?(?:是|叫)(?:做|作)?(?:什么|啥)(?!时)",
        Kind("who"),
    ),
    (
        r"哪里|哪儿|何处|何地|什么地方|哪个?(?:国家|城市|省|县|市|地区|地方|区|州|镇|村|岛)|什么位置|位于哪|在哪",
        Kind("where"),
    ),
    (
        r"多久|多长时间|几(?:年|天|个月|小时|分钟|周|个星期)(?!级)|多少(?:年|天|个月|小时|分钟|周)",
        Kind("how_long", units=DURATIONS),
    ),
    (r"多少岁|几岁|多大(?:年纪|岁数|年龄)|(?:年龄|岁数|年纪)多大", Kind("how_much", units=frozenset({"岁", "year"}))),
    (
        r"(?:[造售票房单总租标]价|价格|收购价|费用|花费|租金|罚款|预算|工资|薪水|学费)[^，。？?]{0,4}多少(?!人|次|年|天)",
        Kind("how_much", units=MONEY),
    ),
    (r"多少(?:元|克朗|美元|英镑|欧元|钱|经费|资金)", Kind("how_much", units=MONEY)),
    (r"多[高长远深宽厚]", Kind("how_much", units=LENGTHS)),
    (r"多大|多重|多快|占多大|百分之几|面积|多少", Kind("how_much")),
    (r"几(?=[个名位次家艘只条座人种盏本块辆间场台棵根份支项])", Kind("how_many")),
    (r"哪些|哪几|有什么|都有|分别是", Kind("list")),
    (r"怎么|怎样|如何|怎么样", Kind("how")),
    (r"^什么是|是什么(?:意思)?[？?]?$|指的?是什么|何谓", Kind("definition")),
    (r"发生了?什么|怎么回事", Kind("what_happened")),
    (r"什么|哪|何|几", Kind("which")),
)


def chinese_kind(question: str) -> Kind | None:
    """The kind whose words the question has first in the table; None where it has none of them."""
    for pattern, kind in _CHINESE:
        if re.search(pattern, question):
            if kind.name in ("how_much", "how_many") and not kind.units and (counted := _COUNTED.search(question)):
                return _counted(counted["unit"])
            return kind
    return None


def _counted(after: str) -> Kind:
    """How many of what a Chinese question names behind its `how many`: in the unit that a number there would have."""
    unit = next((q.unit for q in quantities(f"3{after.removeprefix('个') or after}") if q.start == 0 and q.unit), "")
    return Kind("how_many", content_words(after[:2]), frozenset({unit}) if unit else frozenset())
