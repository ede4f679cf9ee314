"""web-topics dataset: websites, joined by links."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.templates.numbered import GraphLand, graphland_fetch


@dataclass(kw_only=True)
class WebTopics(GraphLand):
    """Websites: traffic and content numbers as features, topics as classes."""

    name: ClassVar[str] = "web-topics"
    summary: ClassVar[str] = "websites joined by links; classes are topics"
    fetch: ClassVar[str] = graphland_fetch("web-topics")
    folders: ClassVar[tuple[str, ...]] = ("web-topics", "web-topics/raw/web-topics")
