"""Debian dataset with all sections, including roles such as libraries and documentation."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.debian import Debian
from nodegraft.streams.setting import Setting


@dataclass(kw_only=True)
class DebianAll(Debian):
    """Debian packages in 50 sections, including the nine role sections (libs, doc …)."""

    name: ClassVar[str] = "debian-all"
    summary: ClassVar[str] = "binary packages joined by dependencies; topic and role sections"
    without: ClassVar[tuple[str, ...]] = ()
    setting: ClassVar[Setting] = Setting(
        base=14, pseudo_novel=9, validation=2, novel=24, ways=2, shots=3
    )
