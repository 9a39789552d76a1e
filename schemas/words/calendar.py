"""Names of months and weekdays in English, for the lists of words and the expressions of all rules."""

from __future__ import annotations

from typing import Final

MONTHS: Final = "January February March April May June July August September October November December".split()
WEEKDAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTH: Final = f"(?:{'|'.join(MONTHS)})"
"""An expression for the full name of a month."""
WEEKDAY: Final = f"(?:{'|'.join(WEEKDAYS)})"
"""An expression for the name of a weekday."""
MONTH_START: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
"""An expression for what names of months begin with, which is what they are shortened to."""
