"""Gentoo with every link, those of compilers and build tools too."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.lab.datasets.gentoo import Gentoo


@dataclass(kw_only=True)
class GentooUncut(Gentoo):
    """Gentoo packages with every link, those of hubs too."""

    hub_degree: PositiveInt | None = None
    """Nothing is cut."""

    name: ClassVar[str] = "gentoo-uncut"
    summary: ClassVar[str] = "source packages joined by dependencies, all of them"
