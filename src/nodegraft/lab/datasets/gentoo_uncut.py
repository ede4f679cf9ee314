"""Gentoo dataset with all links, including those of compilers and build tools."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.lab.datasets.gentoo import Gentoo


@dataclass(kw_only=True)
class GentooUncut(Gentoo):
    """Gentoo packages with all links, including those of hubs."""

    hub_degree: PositiveInt | None = None
    """Maximum number of links of a package; with None, all links are kept."""

    name: ClassVar[str] = "gentoo-uncut"
    summary: ClassVar[str] = "source packages joined by dependencies, all of them"
