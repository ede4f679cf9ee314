"""Debian with the sections that say a role: libraries, documentation and the like."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.debian import Debian
from nodegraft.streams.setting import Setting


@dataclass(kw_only=True)
class DebianAll(Debian):
    """Debian packages with the nine sections that say a role (libs, doc …): 50 sections."""

    name: ClassVar[str] = "debian-all"
    summary: ClassVar[str] = "binary packages joined by dependencies; topic and role sections"
    without: ClassVar[tuple[str, ...]] = ()
    setting: ClassVar[Setting] = Setting(
        base=14, pseudo_novel=9, validation=2, novel=24, ways=2, shots=3
    )
