"""Regular expressions that are compiled when they are first used.

A question is held against 110 to 140 of some 280 patterns; the longest, of what is refused, are seldom asked for.
To compile all takes .25 s, those that are used .1 s.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _LazyPattern:
    """A pattern that is text until one of its methods is asked for; then it has those of the compiled one."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # Python comes here only for what the instance does not have.
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return vars(self)[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return _LazyPattern, (self.pattern, self._flags)


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """The regular expression, compiled at the first call of one of its methods; functions of `re` do not take it."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))
