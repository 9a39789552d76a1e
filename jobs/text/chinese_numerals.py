"""Chinese numerals as Arabic digits: 三百二十一个 becomes 321个, 二〇二四年 2024年, 百分之七十 70%.

A numeral that is no number must stay: 一些, 万一, 十分, 三心二意, the names 张三 and 王五, the round 二三十个. So a
numeral is rewritten only where it is a whole number by grammar and

* is written with a unit (十, 百, 千, 万, 亿) after a digit: 三百, 两千, 十二;
* or is one digit before a measure word that is only counted with: 三年, 五公里 (never 一, which is also "a");
* or is a fraction, a percentage, an ordinal, a decimal before a unit, or a year of four digits.

Idioms and names of this form are listed. Source of the grammar: GB/T 15835-2011 (numerals in text).
"""

from __future__ import annotations

import re
from typing import Final

from quern.schemas.words.patterns import lazy_pattern

_DIGITS: Final = dict(zip("零〇一二三四五六七八九两兩", [0, 0, *range(1, 10), 2, 2], strict=True)) | dict(
    zip("壹贰叁肆伍陆柒捌玖貳參陸", [*range(1, 10), 2, 3, 6], strict=True)
)
_UNITS: Final = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_LARGE: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_FORMAL: Final = frozenset("壹贰叁肆伍陆柒捌玖貳參陸拾佰仟")
_ALL: Final = "".join([*_DIGITS, *_UNITS, *_LARGE])
_PLAIN: Final = "零〇一二三四五六七八九"

# What counts with a digit before it. A unit of money, time or size may follow 个半 or 多.
_MEASURES: Final = tuple(
    (
        "年 月 日 天 岁 周年 小时 分钟 秒 点钟 点半 个 名 位 人 家 座 艘 辆 架 台 层 届 场 次 倍 成 "
        "元 美元 欧元 英镑 日元 港元 克朗 块钱 万 亿 公里 千米 里 米 厘米 毫米 平方 立方 吨 公斤 千克 克 斤 升 毫升 度 "
        "条 张 份 项 种 件 本 部 篇 首 支 枚 颗 套 间 所 户"
    ).split()
)
_MONEY: Final = tuple("元 圆 块 人民币 美元 欧元 英镑".split())
# Before a lone digit these make a name or the end of another word: 张三个子高, 星期五天气, 三番五次, 数十年.
_NO_DIGIT_AFTER: Final = frozenset(
    "王李张刘陈杨赵黄周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁于董余苏叶吕魏蒋田杜丁沈姜范江"
    "傅钟卢汪戴崔任陆廖姚方金丘夏谭韦贾邹石熊孟秦阎薛侯雷白龙段郝孔邵史毛常顾赖武康贺严尹钱施牛洪龚"
    "老小阿期拜番初数几好成近每唯统独"
)
# Before any numeral these say that it is no number of its own: 几十, 数百, 双十一, 老三十.
_NEVER_AFTER: Final = frozenset("几幾数數双雙老")
_AFTER_TEN: Final = frozenset("几幾数數")
_IDIOMS: Final = (
    "三百六十行 三十六计 七十二变 五十步笑百步 三十而立 四十不惑 五十知天命 十一黄金周 十一长假 十一假期 "
    "一千零一夜 二百五 十万个为什么 十万火急 十万八千里 九十九归 八百里加急 三千弟子 "
    "三天两头 三年五载 三位一体 四位一体 二人转 四人帮 三人行 三人成虎 五月天 六月雪 十月革命 十年树木 "
    "十年如一日 三家村 两个凡是 三个代表 四个全面 四个意识 五项原则 八项规定 四项基本 两条腿 六度分隔 三里屯 "
    "五里雾 三部曲 四部曲 四件套 两次三番 三张嘴 八成新 七成熟 二次元 三次元 两本账 "
    "第一手 第三者 第三方 第一线 第一时间 第三世界 第一夫人 第二春 第六感 第二故乡 第一产业 第二产业 第三产业 "
    "第一桶金 第五纵队 第三帝国 第一百货 统一百货 第一书记 第一次世界大战 第二次世界大战 "
    # Names of places, things and works, and what GB/T 15835-1995, 5.1 lists as fixed words.
    "五台山 五家渠 二里头 三元里 三元桥 六本木 七里香 十里洋场 十里长街 五月花 四天王 五倍子 六部尚书 二万五千里长征 "
    "三千丈 三七二十一 十三陵 十三经 十八罗汉 二十四史 路易十[三四五六八] "
    "(?:[二三五六七八九]十?|十)里[桥庄店铺堡坡沟坪墩亭台河] (?:二月二|三月三|六月六|九月九)(?![日号])"
)
# Years of an era and days of the lunar calendar keep their numerals: GB/T 15835-2011, 4.2.1.
_ERA: Final = lazy_pattern(
    "(?:洪武|建文|永乐|洪熙|宣德|正统|景泰|天顺|成化|弘治|正德|嘉靖|隆庆|万历|泰昌|天启|崇祯|顺治|康熙|雍正|乾隆|嘉庆|道光|咸丰|同治"
    "|光绪|宣统|民国|贞观|开元|天宝|元和|元丰|绍兴|淳熙|明治|大正|昭和|平成|令和|农历|阴历|旧历|腊月|正月)$"
    "|(?:农历|阴历|旧历)[^，。；\\n]{1,4}月$"
)
_IDIOM: Final = lazy_pattern("|".join(sorted(set(_IDIOMS.split()), key=len, reverse=True)))
_NUMERAL: Final = lazy_pattern(
    rf"(?P<idiom>(?:{_IDIOM.pattern})(?!(?<=[{_ALL}])[{_ALL}]))"
    rf"|(?P<share>[百千]分之)(?P<percent>百|[{_ALL}]+(?:点[{_PLAIN}]+)?)"
    rf"|(?P<below>[{_ALL}]+)分之(?P<above>[{_ALL}]+)"
    rf"|(?P<year>[{_PLAIN}]{{4}})(?=年)"
    rf"|(?P<whole>[{_ALL}]+)点(?P<part>[{_PLAIN}]+)(?P<large>[万亿]?)(?![{_ALL}])"
    rf"|(?P<run>[{_ALL}]+)"
)
_WEEKDAY: Final = lazy_pattern("(?:星期|礼拜|(?<![一二三四五六七八九十每])周)$")


def value(numeral: str) -> int | None:
    """The number that `numeral` writes; null where it is none by grammar (二三十, 百万, 三百二百)."""
    if not 0 < len(numeral) <= 24:  # Characters of a numeral; longer runs are no numbers.
        return None
    if all(c in _PLAIN for c in numeral) and len(numeral) == 1:
        return int(_DIGITS[numeral])
    return _grammatical(numeral)


def _grammatical(numeral: str) -> int | None:
    """One pass: `section` is what stands since the last 万 or 亿, `digit` a digit that waits for its unit."""
    total = section = 0
    digit: int | None = None
    least_large, least_unit, zero = 10**12, 10**4, False
    for c in numeral:
        if c in _DIGITS:
            if digit is not None:
                return None
            if _DIGITS[c] == 0:
                if zero or (total == section == 0):
                    return None
                zero = True
            else:
                digit = _DIGITS[c]
        elif c in _UNITS:
            unit = _UNITS[c]
            if digit is None and (unit != 10 or section or zero or total):
                return None
            if unit >= least_unit:
                return None
            section, digit, least_unit, zero = section + (1 if digit is None else digit) * unit, None, unit, False
        else:
            large = _LARGE[c]
            section += digit or 0
            if section == 0 or (large >= least_large and not (large == 10**8 and least_large == 10**4)):
                return None
            total = (total + section) * large if large > least_large else total + section * large
            section, digit, least_large, least_unit, zero = 0, None, large, 10**4, False
    if zero and digit is None:
        return None
    # What a last digit without a unit counts: 两千五 is 2500, 一万零五 is 10005, 二十五 is 25.
    before = numeral[-2:-1]
    last = 10 if zero or before in ("十", "拾", "") else _UNITS.get(before) or _LARGE.get(before) or 10
    return total + section + (digit or 0) * (last // 10)


def arabic(text: str) -> str:
    """`text` with its Chinese numerals as Arabic digits where they are numbers."""
    return _NUMERAL.sub(_rewrite, text)


def _rewrite(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()] if match.start() else ""
    if match["idiom"] or before in _NEVER_AFTER or before.isdecimal() or before == ".":
        return match[0]
    if _ERA.search(match.string, max(0, match.start() - 8), match.start()):
        return match[0]
    if match["year"]:
        return "".join(str(_DIGITS[c]) for c in match["year"])
    if match["share"]:
        sign = "%" if match["share"][0] == "百" else "‰"
        if match["percent"] == "百":
            return f"100{sign}"
        whole, point, part = match["percent"].partition("点")
        number = value(whole)
        return match[0] if number is None else f"{number}{_digits(point, part)}{sign}"
    if match["below"]:
        below, above = value(match["below"]), value(match["above"])
        return f"{above}/{below}" if below and above and below > 1 else match[0]
    if match["whole"]:
        # 三点五公里 is 3.5公里; 七点十分 and 三点意见 are none, and 一点一 is one only before a measure word.
        number, after = value(match["whole"]), match.string[match.end() : match.end() + 4]
        if number is None or not (match["large"] or after.startswith(_MEASURES) or after[:1] in ("%", "％")):
            return match[0]
        return f"{number}{_digits('点', match['part'])}{match['large']}"
    return _whole(match, before)


def _digits(point: str, part: str) -> str:
    return "." + "".join(str(_DIGITS[c]) for c in part) if point else ""


def _whole(match: re.Match[str], before: str) -> str:
    run, after = match["run"], match.string[match.end() : match.end() + 4]
    number = value(run)
    if number is None or (run[-1] == "十" and after[:1] in _AFTER_TEN):
        return match[0]
    if not _FORMAL.isdisjoint(run):
        return str(number) if len(run) > 1 and after.startswith(_MONEY) else match[0]
    if len(run) > 1:
        # 星期二十点 is ten o'clock on Tuesday.
        at = match.start()
        if _WEEKDAY.search(match.string, max(0, at - 2), at):
            return run
        # Whole thousands of 万 keep their unit, as print does: 三千万 is 3000万, 一万二千 is 12000.
        for unit, size in (("亿", 10**8), ("万", 10**4)):
            if run.endswith(unit) and sum(c in _LARGE for c in run) == 1:
                return f"{number // size}{unit}"
        return str(number)
    day = before == "月" and after[:1] in ("日", "号")
    if before == "第" or day or (run == "一" and (after.startswith("月") or _is_hour(after))):
        return str(number)
    if run in "一零〇" or before in _NO_DIGIT_AFTER or not (after.startswith(_MEASURES) or _is_hour(after)):
        return run
    return str(number)


def _is_hour(after: str) -> bool:
    """Whether `after` goes on as a time of day: 点二十分."""
    return after[:1] == "点" and after[1:2] in _DIGITS | _UNITS and ("分" in after or "十" in after)
