"""pokec-regions dataset: members of a social network, joined by friendship."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.templates.numbered import GraphLand, graphland_fetch


@dataclass(kw_only=True)
class PokecRegions(GraphLand):
    """Members of Pokec: profile fields as features, regions of the country as classes."""

    name: ClassVar[str] = "pokec-regions"
    summary: ClassVar[str] = "members of a social network; classes are regions"
    fetch: ClassVar[str] = graphland_fetch("pokec-regions")
    folders: ClassVar[tuple[str, ...]] = ("pokec-regions", "pokec-regions/raw/pokec-regions")
