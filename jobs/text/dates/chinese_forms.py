"""The forms in which Chinese writes times, as one expression whose groups say how each is read."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from quern.jobs.text.dates.chinese_words import ERAS, HOLIDAYS, LUNAR_HOLIDAYS

_N: Final = "(?:\\d{1,3}|[零〇一二两三四五六七八九十百]{1,6})"
YEAR: Final = "(?:\\d{4}|[零〇一二三四五六七八九]{4})"
_MONTH: Final = "(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]|正|元|腊|冬)"
_ONE: Final = "[一二三四五六七八九]"
DAY: Final = f"(?:[12]\\d|3[01]|0?[1-9]|三十一?|二?十{_ONE}?|廿{_ONE}?|初[一二三四五六七八九十]|{_ONE})"
# Years of two numerals; 一二, 二三 and their like before 年 count years: two or three.
_SHORT_YEAR: Final = "[零〇九][零〇一二三四五六七八九]|一[零〇三四五六七八九]|二[零〇一四五六]"
_NOT_COUNTED: Final = "(?![代级間间])"
# 后三天 and 前两周 count from the text's day only where no event stands before them: 下车后三天.
_ALONE: Final = "(?<![^\\s，。、；：在于的“「(（])"


# What 3号 numbers where it is no day, and what people do on one.
_THINGS: Final = "[线楼门机院室店厅馆厂房车床文令公法台井坑矿位码]"
_DONE: Final = "来|去|到|回|出发|见|开[会始学]|之?前|以前|之?后|以后|早上|晚上|上午|中午|下午"


@cache
def chinese_points() -> re.Pattern[str]:
    """The points in time; the names of the groups say how each is read."""
    eras = "|".join(sorted(ERAS, key=len, reverse=True))
    holidays = "|".join(sorted((*HOLIDAYS, *LUNAR_HOLIDAYS), key=len, reverse=True))
    seasons = "[春夏秋冬](?:天|季|日(?!本))"
    unit = "个?(?:年|季度|月|周|星期|礼拜|週|天|日|工作日|小时|分钟|世纪|年代)"
    rest = (
        rf"(?P<m>{_MONTH})\s*月份?(?!饼|球|亮|光|台|租|薪|票|供|刊)(?:\s*(?:(?P<d>{DAY})\s*(?:[日号號](?!线|楼|院|门|令)|(?<=初.))|的?(?P<mpart>初|中(?!国|方|央)旬?|底|末|上旬|下旬))"
        r"|的?(?:最[后後]一|第(?P<nth>[一二三四五1-5]))个?(?:星期|周|礼拜)(?P<nthday>[一二三四五六日天])?)?"
        rf"|第?(?P<q>[一二三四1-4])季度?|[Qq](?P<q2>[1-4])|(?P<half>[上下前后後])半年|(?P<s>{seasons}|[春夏秋冬](?=\W|$))"
        rf"|(?P<yedge>年?[初底末]|年中|末期|初期|中期)|前(?P<firstn>{_N})(?P<firstu>个月|个?季度|周|天)|第(?P<yweek>{_N})个?(?:周|星期|週)|第(?P<ymonth>{_N})个月"
        rf"|最[后後]\s*(?P<lastn>{_N})?\s*(?P<lastu>个?(?:月|周|週|星期|天|季度))|(?P<yhol>{holidays})"
    )
    return re.compile(
        rf"(?=[{_first_letters()}])(?P<lunar>农历|農曆|阴历|陰曆|旧历|夏历)?"
        rf"(?:(?P<cent>{_N}|上个?|本)世纪(?P<cdec>{_N})年代(?P<cpart>初期?|中期|末期?)?|(?P<cent2>\d\d?|[一二十]{{1,3}}|上个?|本)世纪"
        rf"|(?<!\d)(?P<dec>(?:1\d|20)?[0-9]0|[二三四五六七八九]十)年代(?P<dpart>初期?|中期|末期?)?"
        rf"|(?:(?P<era>{eras})(?P<ey>元|{_N})年|(?<!\d)(?<!\d[,.])(?<!前)(?P<y>{YEAR}|(?<=公元)[1-9]\d{{0,2}}|[1-9]\d\d(?=年(?:\d|[一二三四五六七八九十]|[，至到）)])))\s*年度?(?![代级])"
        rf"|(?<!\d)(?<!\d[,.])(?P<y2>[1-4]\d(?=年(?:\d|[一二三四五六七八九十]+月|第|[上下]半|[春夏秋冬]))|0\d|{_SHORT_YEAR}|9\d(?!年[来内里间前后以的多])|[5-8]\d(?=年\d))年{_NOT_COUNTED}"
        rf"|(?P<yr>[前去今明后後]年|本年度?|[当當同次翌]年))(?:\s*的?\s*(?:{rest}))?"
        rf"|(?<![\d-])(?P<iso>(?:\d\d)?\d\d-\d\d?-\d\d?)(?!\d)"
        rf"|(?P<near>大?[前后後]天|[昨今明当當][天日](?!头)|[昨今明当當][晚晨早]|次日|翌日)"
        rf"|(?P<wk>上上|下下|上|下|本|这|這)个?(?:周|星期|礼拜|週)(?P<wkd>[一二三四五六日天末])?"
        rf"|(?<![每逢隔一两二三四五六七八九十\d个])(?P<wd>周|星期|礼拜|週)(?P<wdd>[一二三四五六日天])(?![期年两])"
        rf"|(?P<mstep>上上|下下|上|下|本|这|當|当)个?月(?:(?P<msd>{DAY})[日号號]|(?P<mspart>初|中旬?|底|末|上旬|下旬))?"
        rf"|(?P<qstep>上|下|本|这)个?季度?(?!节)|(?P<hstep>上|下)个半年|(?P<mhalf>上|下)半月"
        rf"|(?P<pastw>(?:过去|過去|最近|未来|接下来|今后|往后)的?|近|{_ALONE}[前后後上下])(?P<pastn>{_N})\s*(?P<pastu>{unit})(?![前后])"
        rf"|(?P<agon>{_N}|半|几)\s*(?P<agou>{unit})(?:之|以)?(?P<ago>前|后|後)(?!半|天|来)"
        rf"|(?<!每个)(?<!每)(?P<weekend>[周週]末)|(?<!大)(?P<edge>[年月][初底末]|岁末)"
        rf"|(?<![第\d一二两三四五六七八九十几每个.])(?:{rest.replace('(?P<', '(?P<r')})"
        rf"|(?<![\d.第同当當每])(?P<day>[12]\d|3[01]|[1-9])日(?![本元月])"
        rf"|(?<=[在于到从至，。、月])(?P<day2>[12]\d|3[01]|[1-9])号(?!{_THINGS})"
        rf"|(?<![第\d\-])(?P<day3>[12]\d|3[01]|[1-9]|二?十[一二三四五六七八九]?|三十一?)号(?={_DONE})"
        rf"|(?P<hn>{_N})\s*(?:个?小时|分钟)(?:之|以)?[前后]"
        r")"
    )


def _first_letters() -> str:
    """The letters with which a time can begin: a text is passed over quickly where none of them stands."""
    begin = "\\d零〇一二两三四五六七八九十百半几农農阴陰旧夏前去今明后後本当當同次翌大昨上下"
    begin += "这這过過最近未接往周星礼週第Qq年月岁春秋冬正元腊"
    names = (*ERAS, *HOLIDAYS, *LUNAR_HOLIDAYS)
    return begin + "".join(sorted({name[0] for name in names} - set(begin)))
