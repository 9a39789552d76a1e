"""Elements found by their attributes."""

from __future__ import annotations

from lxml.etree import XPath
from lxml.html import HtmlElement


class Holders:
    """The elements that hold attributes, in half of the time of a predicate over all elements.

    The attributes are sought, and each is asked for its element: `descendant::*/@hidden/..` would say the same, but
    compares each element with all before it.
    """

    def __init__(self, *attributes: str) -> None:
        """Args: `attributes` of descendants, as XPath writes them behind `@`, each maybe with a predicate."""
        self._paths = [XPath(f"descendant::*/@{attribute}") for attribute in attributes]

    def __call__(self, tree: HtmlElement) -> list[HtmlElement]:
        """Descendants of an element that hold one of the attributes, each once, in the order of the document."""
        found = [[value.getparent() for value in path(tree)] for path in self._paths]
        some = [elements for elements in found if elements]
        if len(some) < 2:
            return some[0] if some else []
        holders = {element for elements in some for element in elements}
        return [element for element in tree.iter() if element in holders]
