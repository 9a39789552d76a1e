"""Values that answers give: dates, and quantities with their units."""

from __future__ import annotations

from quern.jobs.text.dates import Precision, When, dates
from quern.jobs.text.quantities import Quantity, quantities, singular

__all__ = ["Precision", "Quantity", "When", "dates", "quantities", "singular"]
