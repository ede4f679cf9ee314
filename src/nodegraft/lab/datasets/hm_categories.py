"""hm-categories dataset: articles of a fashion shop, joined if the same people bought them."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.templates.numbered import GraphLand, graphland_fetch


@dataclass(kw_only=True)
class HmCategories(GraphLand):
    """Articles of a shop: prices and attributes as features, product groups as classes."""

    name: ClassVar[str] = "hm-categories"
    summary: ClassVar[str] = "articles joined by shared buyers; classes are product groups"
    fetch: ClassVar[str] = graphland_fetch("hm-categories")
    folders: ClassVar[tuple[str, ...]] = ("hm-categories", "hm-categories/raw/hm-categories")
