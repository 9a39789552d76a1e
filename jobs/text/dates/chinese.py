"""Times in Chinese text.

A year is read with what stands behind it (month and day, quarter, season); the same behind no year is of the nearest.
A year of the Republic (民国113年 is 2024) and of Japan's eras is counted from the era's first; a day of the Chinese
calendar (农历, 初一, 腊月) is told as `lunar` and not resolved, for it needs tables of the moon.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final, cast

from quern.jobs.text.chinese_numerals import value as numeral_value
from quern.jobs.text.dates import calendar
from quern.jobs.text.dates.calendar import Part, Reading, Setting, Signal, When, a_day, in_calendar
from quern.schemas.words.patterns import lazy_pattern

# The first year of each era; months of the Qing emperors are those of the moon.
_SOLAR: Final = {
    "中华民国": 1912, "中華民國": 1912, "民国": 1912, "民國": 1912,
    "明治": 1868, "大正": 1912, "昭和": 1926, "平成": 1989, "令和": 2019,
}  # fmt: skip
_ERAS: Final = _SOLAR | {
    "顺治": 1644, "康熙": 1662, "雍正": 1723, "乾隆": 1736, "嘉庆": 1796, "道光": 1821, "咸丰": 1851, "同治": 1862,
    "光绪": 1875, "宣统": 1909,
}  # fmt: skip
_STEPS: Final = {
    **dict.fromkeys(("上上", "前"), -2), **dict.fromkeys("去昨上", -1), **dict.fromkeys("今本这當当同", 0),
    **dict.fromkeys("明次翌下", 1), **dict.fromkeys(("下下", "后", "後"), 2),
}  # fmt: skip
_UNITS: Final = {
    "年": "year", "季度": "quarter", "月": "month", "周": "week", "週": "week", "星期": "week", "礼拜": "week",
    "禮拜": "week", "天": "day", "日": "day", "工作日": "business",
}  # fmt: skip
_PARTS: Final[dict[str, Part]] = {"初": "start", "上": "start", "中": "mid", "底": "end", "末": "end", "下": "end"}
_HOLIDAYS: Final = {
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "愚人节": (4, 1), "劳动节": (5, 1), "儿童节": (6, 1),
    "建军节": (8, 1), "教师节": (9, 10), "国庆节": (10, 1), "国庆": (10, 1), "万圣节": (10, 31), "双十一": (11, 11),
    "平安夜": (12, 24), "圣诞节": (12, 25), "圣诞": (12, 25),
}  # fmt: skip
_LUNAR_HOLIDAYS: Final = "春节|大年初一|大年三十|元宵节|端午节?|七夕|中秋节?|重阳节|除夕"
_SPECIAL: Final = {"元": 1, "正": 1, "冬": 11, "腊": 12, "几": 3}
_WEEKDAYS: Final = "一二三四五六日天"

_N: Final = "(?:\\d{1,3}|[零〇一二两三四五六七八九十百]{1,6})"
_YEAR: Final = "(?:\\d{4}|[零〇一二三四五六七八九]{4})"
_MONTH: Final = "(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]|正|元|腊|冬)"
_ONE: Final = "[一二三四五六七八九]"
_DAY: Final = f"(?:[12]\\d|3[01]|0?[1-9]|三十一?|二?十{_ONE}?|廿{_ONE}?|初[一二三四五六七八九十]|{_ONE})"
_WEEK: Final = "(?:周|星期|礼拜|週|禮拜)"
_UNIT: Final = f"(?P<unit>个?(?:年|季度|月|{_WEEK}|天|日|工作日))"
# What 3号 numbers where it is no day.
_THINGS: Final = "[线楼门机院室店厅馆厂房车床文令公法台井坑矿位码]"

_START: Final = lazy_pattern(
    "[\\d零〇一二两三四五六七八九十百半几农農阴陰旧夏前去今明后後本当當同次翌大昨上下这過过最近未接往周星礼週第Qq年月岁"
    "春秋冬正元腊中民昭平令情妇愚劳儿建教国万双圣端七重除顺康雍乾嘉道咸同光宣禮]"
)
# A text without one of these names no time in Chinese.
_HINT: Final = lazy_pattern(r"[年月日号號周週季节節天今昨明晚晨早旦]|世纪|星期|[礼禮]拜|\d-\d")
_YEAR_HEAD: Final = lazy_pattern(
    rf"(?:(?P<era>{'|'.join(_ERAS)})(?P<nth>元|{_N})年|(?<![\d前])(?<!\d[,.])(?P<year>{_YEAR})\s*年度?(?![代级])"
    r"|(?<![\d第])(?<!\d[,.])(?P<short>0\d(?!年[代级间])|9\d(?!年[代级间来内里前后以的多])|[1-8]\d(?=年\d)|[零〇九]"
    + _ONE
    + r")年(?![代级間间])"
    r"|(?P<step>[前去今明后後]年|本年度?|[当當同次翌]年))\s*的?\s*"
)
_REST: Final = lazy_pattern(
    rf"(?P<m>{_MONTH})\s*月份?(?!饼|球|亮|光|台|租|薪|票|供|刊)(?:\s*(?:(?P<d>{_DAY})\s*(?:[日号號](?!线|楼|院|门|令)|(?<=初.))"
    r"|的?(?P<part>初|中(?!国|方|央)旬?|底|末|上旬|下旬))"
    rf"|的?(?:最[后後]一|第(?P<nth>[一二三四五1-5]))个?{_WEEK}(?P<nthday>[一二三四五六日天])?)?"
    r"|第?(?P<q>[一二三四1-4])季度|[Qq](?P<q2>[1-4])|(?P<half>[上下前后後])半年|(?P<season>[春夏秋冬](?:天|季|日(?!本)|(?=\W|$)))"
    rf"|(?P<edge>年?[初底末]|年中|末期|初期|中期)|第(?P<week>{_N})个?{_WEEK}"
    rf"|(?P<side>前|最[后後])\s*(?P<n>{_N})?\s*{_UNIT.replace('年|', '')}"
    rf"|(?P<holiday>{'|'.join(sorted(_HOLIDAYS, key=len, reverse=True))})|(?P<lunar>{_LUNAR_HOLIDAYS})"
)
_LONG: Final = lazy_pattern(
    rf"(?:(?P<century>{_N}|上个?|本)世纪)(?:(?P<decade>{_N})年代)?(?P<part>初期?|中期|末期?)?"
    r"|(?<!\d)(?P<years>(?:1\d|20)?[0-9]0|[二三四五六七八九]十)年代(?P<dpart>初期?|中期|末期?)?"
)
_ISO: Final = lazy_pattern(r"(?<![\d-])(?P<y>(?:\d\d)?\d\d)-(?P<m>\d\d?)-(?P<d>\d\d?)(?!\d)")
_NEAR: Final = lazy_pattern(r"大?[前后後]天|[昨今明当當][天日](?!头)|[昨今明][晚晨早]|[当當][晚晨]|次日|翌日")
_WEEK_STEP: Final = lazy_pattern(rf"(?P<step>上上|下下|上|下|本|这)[个個]?{_WEEK}(?P<day>[一二三四五六日天末])?")
_WEEKDAY: Final = lazy_pattern(
    rf"(?<![每逢隔一两二三四五六七八九十\d个]){_WEEK}(?P<day>[一二三四五六日天末])(?![期年两])|(?<=[这个])周末"
)
_STEP: Final = lazy_pattern(
    rf"(?P<step>上上|下下|上|下|本|这|當|当)个?(?:月(?:(?P<d>{_DAY})[日号號]|(?P<part>初|中旬?|底|末|上旬|下旬))?"
    r"|(?P<quarter>季度?(?!节))|(?P<half>(?<=个)半年))|(?<!大)(?P<edge>[年月岁][初底末])"
)
_COUNTED: Final = lazy_pattern(
    rf"(?P<side>(?:过去|過去|最近|未来|接下来|今后|往后)的?|近|(?<![^\s，。、；：在于的“「(（])[前后後上下])(?P<n>{_N})\s*{_UNIT}(?![前后])"
)
_AGO: Final = lazy_pattern(rf"(?P<n>{_N}|半|几)\s*{_UNIT}(?:之|以)?(?P<way>[前后後])(?!半|天|来)")
_LONE_DAY: Final = lazy_pattern(
    rf"(?<![\d.第同当當每-])(?P<d>[12]\d|3[01]|[1-9]|二?十{_ONE}?|三十一?)"
    rf"(?:(?<=\d)日(?![本元月])|号(?=来|去|到|回|出发|见|开[会始学]|之?前|以前|之?后|以后|[早晚]上|[上下中]午)|(?<=[在于到从至，。、月]\d)号(?!{_THINGS})|(?<=[在于到从至，。、月]\d\d)号(?!{_THINGS}))"
)
# Before a time: that it is of the Chinese calendar, or recurs.
_UNLIKE: Final = lazy_pattern("(?P<lunar>(?:农历|農曆|阴历|陰曆|旧历|夏历)$)|每[一个隔]?$")
_CLOCK: Final = "(?:[早晚上下中]午?)?(?:(?:\\d{1,2}|[一二两三四五六七八九十]{1,3})[点时:]半?(?:\\d\\d)?)?"
_JOIN: Final = lazy_pattern(rf"{_CLOCK}\s*(?:(?P<with>[和与與及])|到|至|—+|–|-|~|～)\s*")
_COUNT_BEFORE: Final = lazy_pattern(rf"(?<!\d)(?P<n>{_YEAR}|{_DAY})(?:[日号])?\s*(?:到|至|—+|–|-|~|～)\s*$")
_AFTER: Final = lazy_pattern(
    r"(?P<since>或(?:之|以)?[后後]|及(?:之|以)[后後]|起|以来|以來|开始)|(?P<until>或(?:之|以)?前|及(?:之|以)前|为止)"
    r"|(?P<after>(?:之|以)[后後]|[后後](?!半|来|天))"
    r"|(?P<before>(?:之|以)前|前(?![\d一二两三四五六七八九十半后往景夕天锋任沿线台方提途面身]))"
)
_BEFORE: Final = lazy_pattern(
    "(?:(?P<until>截止到?|截至|直到|不晚于)|(?P<before>早于|先于)|(?P<after>晚于)|(?P<since>自从?|不早于))$"
)

_Found = tuple[int, int, Reading]


def chinese_times(text: str, setting: Setting) -> list[When]:
    """The times of `text`, in order and disjoint."""
    if text.isascii() or _HINT.search(text) is None:
        return []
    return _Chinese(text, setting).times()


class _Chinese:
    """The times of one text; `anchor` is the time to a day, month or year that it has named last."""

    def __init__(self, text: str, setting: Setting) -> None:
        self.text, self.setting = text, setting
        self.anchor: Reading | None = None

    def times(self) -> list[When]:
        readings: list[_Found] = []
        end = 0
        while (start := _START.search(self.text, end)) is not None:
            at = start.start()
            end = at + 1
            one = in_calendar(self._at, at)
            unlike = _UNLIKE.search(self.text, max(0, at - 2), at)
            if one is None or (unlike and not unlike["lunar"]):
                continue
            end, reading = one
            if unlike:
                reading = replace(reading, first=None, last=None, flaw="lunar")
            if reading.unit in ("day", "month", "year") and reading.first is not None:
                self.anchor = reading
            # It may be the other end of a range, or a day and its weekday, that the time before begins.
            new = self._with_first((at, end, reading), readings[-1][1] if readings else 0)
            whole = in_calendar(self._joined, readings[-1], new) if readings else None
            readings[len(readings) - (whole is not None) :] = [whole or new]
        times = []
        for at, end, reading in readings:
            match = None
            if reading.unit != "range":
                match = _AFTER.match(self.text, end) or _BEFORE.search(self.text, max(0, at - 4), at)
            signal = cast(Signal, match.lastgroup) if match else ""
            times.append(reading.when(self.text, at, end, self.setting, signal))
        return times

    def _at(self, start: int) -> tuple[int, Reading] | None:
        text = self.text
        if m := _LONG.match(text, start):
            return self._with(m, self._long(m))
        if m := _ISO.match(text, start):
            year = int(m["y"])
            return self._with(m, calendar.day_of(year if year > 99 else 2000 + year, int(m["m"]), int(m["d"])))
        if m := _YEAR_HEAD.match(text, start):
            return self._year(m)
        for pattern, rule in _RULES:
            if (m := pattern.match(text, start)) and (reading := rule(self, m)) is not None:
                return m.end(), reading
        if (start and text[start - 1] in "第\\d一二两三四五六七八九十几每.0123456789") or not (
            m := _REST.match(text, start)
        ):
            return None
        return self._with(m, self._without_year(m))

    @staticmethod
    def _with(m: re.Match[str], reading: Reading | None) -> tuple[int, Reading] | None:
        return None if reading is None else (m.end(), reading)

    # ---- years and what stands behind them

    def _year(self, m: re.Match[str]) -> tuple[int, Reading] | None:
        relative = False
        if m["era"]:
            year = _ERAS[m["era"]] + (_number(m["nth"]) or 1) - 1
        elif m["year"] or m["short"]:
            year = _number(m["year"] or m["short"])
            year += 0 if m["year"] else 1900 if year >= 50 else 2000
        elif m["step"][0] in "当當同次翌":
            if self.anchor is None or self.anchor.first is None:
                return None
            year, relative = self.anchor.first.year + _STEPS[m["step"][0]], self.anchor.relative
        else:
            year, relative = self.setting.today.year + _STEPS[m["step"][0]], True
        if not 100 <= year < 2200:
            return None
        rest = _REST.match(self.text, m.end())
        if rest and rest["m"] and m["era"] not in (None, *_SOLAR):
            return rest.end(), _unknown()
        reading = self._in_year(rest, year) if rest else None
        if rest is None or reading is None:
            head = m[0].rstrip().removesuffix("的").rstrip()
            return m.start() + len(head), replace(
                calendar.nth_of_year(year, 1, "year") or _unknown(), relative=relative
            )
        return rest.end(), replace(reading, relative=relative)

    def _in_year(self, m: re.Match[str], year: int) -> Reading | None:
        if m["m"]:
            month = _number(m["m"])
            if not 1 <= month <= 12:
                return None
            if m["d"]:
                day = calendar.day_of(year, month, _number(m["d"]))
                return _unknown() if _is_lunar(m) else day
            return _narrowed(calendar.months(year, month, 1, "month"), m)
        if m["q"] or m["q2"]:
            return calendar.nth_of_year(year, _number(m["q"] or m["q2"]), "quarter")
        if m["half"]:
            return calendar.nth_of_year(year, 1 if m["half"] in "上前" else 2, "half")
        if m["season"]:
            return calendar.season_of(year, _season(m["season"]))
        whole = calendar.months(year, 1, 12, "year")
        if m["edge"]:
            return calendar.part_of(whole, _PARTS[m["edge"].replace("年", "")[0]])
        if m["week"]:
            return calendar.nth_of_year(year, _number(m["week"]), "week")
        if m["side"]:
            return _edge_units(whole, m)
        if m["holiday"]:
            return calendar.day_of(year, *_HOLIDAYS[m["holiday"]])
        return _unknown()

    def _without_year(self, m: re.Match[str]) -> Reading | None:
        """A time whose year is open: 3月5日, 第一季度, 上半年, 国庆节."""
        setting = self.setting
        if m["m"]:
            if m["m"] in "元冬正腊" or _is_lunar(m):
                return _unknown() if m["d"] or m["m"] in "正腊" else None
            if m["d"]:
                return calendar.open_day(_number(m["m"]), _number(m["d"]), setting)
            return _narrowed(calendar.open_months(_number(m["m"]), "month", setting), m)
        if m["season"]:
            season = calendar.open_months(_season(m["season"]), "season", setting)
            return season if len(m["season"]) > 1 else None
        if m["holiday"]:
            return calendar.open_day(*_HOLIDAYS[m["holiday"]], setting)
        if m["side"] or m["week"] or (m["edge"] and not m["edge"].startswith("年")):
            return None
        reading = self._in_year(m, setting.today.year)
        return replace(reading, relative=True, open=bool(m["q"] or m["q2"])) if reading else None

    def _long(self, m: re.Match[str]) -> Reading | None:
        """Decades and centuries: 20世纪80年代, 九十年代, 21世纪."""
        here, word = self.setting.today.year // 100, m["century"]
        century = 20 if word is None else here + (word[0] == "本") if word[0] in "上本" else _number(word)
        if word and not m["decade"]:
            return calendar.century_of(century)
        years = _number(m["decade"] or m["years"])
        if years < 1000:
            years += 100 * (century - 1)
        if years % 10 or not 100 <= years < 2200:
            return None
        decade = calendar.months(years, 1, 120, "decade")
        part = m["part"] or m["dpart"]
        return calendar.part_of(decade, _PARTS[part[0]]) if part else decade

    # ---- times told from the text's day

    def near(self, m: re.Match[str]) -> Reading | None:
        word, day, relative = m[0], self.setting.today, True
        if word[0] in "当當次翌":
            if self.anchor is None or self.anchor.first is None:
                return None
            day, relative = self.anchor.first, self.anchor.relative
        step = 3 * _STEPS[word[1]] // 2 if word[0] == "大" else _STEPS[word[0]]
        title = self.text.rfind("《", max(0, m.start() - 20), m.start())
        if title > self.text.rfind("》", max(0, m.start() - 20), m.start()):
            return None
        return a_day(day + timedelta(step), relative=relative)

    def week(self, m: re.Match[str]) -> Reading | None:
        """上周, 下周五, 本周末."""
        day = self.setting.today + timedelta(7 * _STEPS[m["step"]])
        if m["day"] and m["day"] != "末":
            return a_day(calendar.weekday_of(day, _weekday(m["day"])), relative=True)
        return replace(calendar.unit_around("weekend" if m["day"] else "week", day), relative=True)

    def weekday(self, m: re.Match[str]) -> Reading | None:
        """News tells what was: the last such day, the day of publication among them; else the next."""
        today = self.setting.today
        if m["day"] in (None, "末"):
            return replace(calendar.unit_around("weekend", today), relative=True)
        day = today - timedelta((today.weekday() - _weekday(m["day"])) % 7)
        if not self.setting.past and day < today:
            day += timedelta(7)
        return replace(a_day(day, "weekday", relative=True), open=True)

    def stepped(self, m: re.Match[str]) -> Reading | None:
        """上个月, 本季度, 月底."""
        today = self.setting.today.replace(day=1)
        if m["edge"]:
            unit = calendar.unit_around("month" if m["edge"][0] == "月" else "year", today)
            return replace(calendar.part_of(unit, _PARTS[m["edge"][1]]), relative=True)
        unit_name = "quarter" if m["quarter"] else "half" if m["half"] else "month"
        period = calendar.unit_around(unit_name, calendar.moved(today, _STEPS[m["step"]], unit_name))
        if m["d"] and period.first:
            day = calendar.day_of(period.first.year, period.first.month, _number(m["d"]))
            return replace(day, relative=True) if day else None
        return replace(calendar.part_of(period, _PARTS[m["part"][0]]) if m["part"] else period, relative=True)

    def counted(self, m: re.Match[str]) -> Reading | None:
        """过去三年, 未来5天, 前1周."""
        n, unit, side, today = _number(m["n"]), _unit(m["unit"]), m["side"].removesuffix("的"), self.setting.today
        if not 0 < n < 5000 or (len(side) == 1 and (n > 99 or m["unit"] == "月")):
            return None  # 前161年 is before our era.
        if side in ("过去", "過去", "最近", "近", "前", "上"):
            return Reading(calendar.moved(today, -n, unit), today - timedelta(1), "range", True)
        return Reading(today + timedelta(1), calendar.moved(today, n, unit), "range", True)

    def ago(self, m: re.Match[str]) -> Reading | None:
        """三天前, 两年后, 半年前."""
        n, unit = _number(m["n"]), _unit(m["unit"])
        if m["n"] == "半":
            n, unit = {"year": (6, "month"), "month": (15, "day")}.get(unit, (0, unit))
        if not 0 < n < 5000 or m["unit"] == "月":
            return None
        sign = -1 if m["way"] == "前" else 1
        return a_day(calendar.moved(self.setting.today, sign * n, unit), relative=True)

    def lone_day(self, m: re.Match[str]) -> Reading | None:
        return calendar.lone_day(_number(m["d"]), self.setting)

    # ---- ranges and signals

    def _joined(self, one: _Found, other: _Found) -> _Found | None:
        between, a, b = self.text[one[1] : other[0]], one[2], other[2]
        if between.strip() in ("", "，", ",", "（", "(") and b.unit == "weekday" and a.unit == "day":
            closed = other[1] + (between in ("（", "(") and self.text[other[1] : other[1] + 1] in ("）", ")"))
            exact = calendar.with_weekday(a, b.first.weekday()) if b.first else a
            return one[0], closed, exact
        if len(between) > 9 or "range" in (a.unit, b.unit):
            return None
        end = other[1]
        join = _JOIN.fullmatch(between)
        if join is None or (join["with"] and not re.match(f"{_CLOCK}(?:之?间|之間)", self.text[end : end + 12])):
            return None
        if "impossible" in (a.flaw, b.flaw):
            return one[0], end, Reading(None, None, "range", flaw="impossible")
        if b.open and not b.month and b.unit == "day" and a.unit == "day" and a.first and b.first:
            # A lone day is of the month before it: 9月16日至23日.
            month = a.first if b.first.day >= a.first.day else calendar.after_months(a.first.replace(day=1), 1)
            b = calendar.day_of(month.year, month.month, b.first.day) or b
        reading = calendar.from_to(a, b)
        return None if reading is None else (one[0], end, reading)

    def _with_first(self, one: _Found, floor: int) -> _Found:
        """`1995 - 1997年`, `3-5月`, `1至7日`: the count before the mark has the unit of the time behind it."""
        start, end, r = one
        m = _COUNT_BEFORE.search(self.text, max(floor, start - 12), start)
        if m is None or r.first is None or r.part:
            return one
        count = _number(m["n"])
        if r.unit == "year" and 1000 <= count <= r.first.year:
            first = r.first.replace(year=count)
        elif r.unit == "month" and 1 <= count < r.first.month:
            first = r.first.replace(month=count)
        else:
            return one
        return m.start(), end, Reading(first, r.last, "range", r.relative)


_RULES: Final = (
    (_NEAR, _Chinese.near),
    (_WEEK_STEP, _Chinese.week),
    (_WEEKDAY, _Chinese.weekday),
    (_STEP, _Chinese.stepped),
    (_COUNTED, _Chinese.counted),
    (_AGO, _Chinese.ago),
    (_LONE_DAY, _Chinese.lone_day),
)


def _number(numeral: str) -> int:
    """A number in digits or in Chinese numerals; 元 is the first, 正 the first month."""
    if numeral.isdecimal():
        return int(numeral)
    numeral = numeral.replace("初", "").replace("廿", "二十").replace("〇", "零")
    if numeral in _SPECIAL:
        return _SPECIAL[numeral]
    if len(numeral) > 1 and all(c in "零一二三四五六七八九" for c in numeral):
        return int("".join(str("零一二三四五六七八九".index(c)) for c in numeral))
    return numeral_value(numeral) or 0


def _unit(word: str) -> str:
    return _UNITS[word.removeprefix("个")]


def _season(word: str) -> int:
    return 3 + 3 * "春夏秋冬".index(word[0])


def _weekday(character: str) -> int:
    return min(6, _WEEKDAYS.index(character))


def _is_lunar(m: re.Match[str]) -> bool:
    """Whether the words themselves are those of the Chinese calendar: 初一, 腊月, 正月."""
    return m["m"] in "正腊冬" or (m["d"] or "")[:1] in ("初", "廿")


def _unknown() -> Reading:
    """A day of the Chinese calendar."""
    return Reading(None, None, "day", flaw="lunar")


def _narrowed(month: Reading, m: re.Match[str]) -> Reading | None:
    """A month, or a part, a week or a weekday of it: 三月上旬, 五月第二周, 四月的最后一个星期一."""
    if m["part"]:
        return calendar.part_of(month, _PARTS[m["part"][0]])
    n = _number(m["nth"]) if m["nth"] else -1
    if m["nthday"] and month.first and month.last:
        return a_day(calendar.nth_weekday(month.first, month.last, _weekday(m["nthday"]), n), relative=month.relative)
    return calendar.nth_in(month, n, "week") if m["nth"] or "最" in m[0] else month


def _edge_units(year: Reading, m: re.Match[str]) -> Reading | None:
    """The first or last units of a year: 2019年前两个月, 去年最后一周; whole weeks, as ISO 8601 counts them."""
    n, unit, first, last = _number(m["n"] or "1"), _unit(m["unit"]), year.first, year.last
    if first is None or last is None:
        return None
    if unit == "week":
        first, last = calendar.monday(first.replace(day=4)), calendar.monday(last.replace(day=28)) + timedelta(6)
    if m["side"] == "前":
        return Reading(first, calendar.moved(first, n, unit) - timedelta(1), "range")
    return Reading(calendar.moved(last + timedelta(1), -n, unit), last, "range")
