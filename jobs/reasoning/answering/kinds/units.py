"""Units of answers by what they measure, and the adjectives and nouns that ask for them."""

from __future__ import annotations

from typing import Final

LENGTHS: Final = frozenset(
    "metre kilometre centimetre millimetre micrometre nanometre micron mile foot inch yard".split()
) | {"nautical mile"}
DURATIONS: Final = frozenset("second minute hour day week fortnight month year decade century".split())
MONEY: Final = frozenset("crown dollar pound euro yuan yen".split())
_AREAS: Final = frozenset({"hectare", "acre", "square metre", "square kilometre", "square mile", "平方米", "平方公里"})
WEIGHTS: Final = frozenset("kilogram gram tonne pound ounce".split())
SHARES: Final = frozenset({"per cent", "share", "percentage point"})
SPEEDS: Final = frozenset({"knot", "kilometre", "mile"})  # Lengths are speeds where a time stands behind them.
UNITS: Final = LENGTHS | DURATIONS | MONEY | _AREAS | WEIGHTS | SHARES | {"degree", "litre", "tonne", "knot", "decibel"}
OF_ADJECTIVE: Final = {
    "far": LENGTHS,
    "tall": LENGTHS,
    "high": LENGTHS,
    "wide": LENGTHS,
    "deep": LENGTHS,
    "thick": LENGTHS,
    "old": frozenset({"year", "month", "week", "day", "岁"}),
    "heavy": WEIGHTS,
    "fast": SPEEDS,
    "loud": frozenset({"decibel"}),
    "noisy": frozenset({"decibel"}),
    "hot": frozenset({"degree"}),
    "cold": frozenset({"degree"}),
    "warm": frozenset({"degree"}),
    "large": frozenset[str](),
    "big": frozenset[str](),
    "small": frozenset[str](),
}
# Nouns of measures: `what is the height of` asks for a number as `how high` does.
OF_MEASURE: Final = {
    noun: units
    for units, nouns in (
        (LENGTHS, "height length width depth distance girth thickness diameter altitude elevation range"),
        (DURATIONS, "duration"),
        (
            MONEY,
            "price cost fee fine salary wage fare budget rent toll deposit sum bill charge payment expense loan debt "
            "money pay revenue turnover profit income earnings grant subsidy",
        ),
        (SHARES, "share percentage proportion"),
        (WEIGHTS, "weight mass"),
        (_AREAS, "area"),
        (frozenset({"degree"}), "temperature"),
        (SPEEDS, "speed"),
        (frozenset({"decibel"}), "noise loudness"),
        (frozenset[str](), "number amount population capacity size rate attendance circulation score total"),
    )
    for noun in nouns.split()
    for units in [units]
}
