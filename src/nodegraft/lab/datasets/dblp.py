"""DBLP dataset: papers, joined by citation."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.templates.matlab import MatlabDataset
from nodegraft.streams.setting import Setting


@dataclass(kw_only=True)
class Dblp(MatlabDataset):
    """Citation graph: word counts of abstracts as features, 137 venues as classes.

    >>> Dblp.full_setting.classes, Dblp.public_setting.classes
    (137, 30)
    """

    name: ClassVar[str] = "dblp"
    summary: ClassVar[str] = "papers joined by citation; classes are venues"
    citation: ClassVar[str] = (
        "Tang et al. 2008, ArnetMiner; few-shot graph of Ding et al. 2020, Graph prototypical "
        "networks"
    )
    site: ClassVar[str] = "https://www.aminer.org/citation"
    folders: ClassVar[tuple[str, ...]] = ("dblp",)
    required_files: ClassVar[tuple[str, ...]] = ("dblp_network", "dblp_test.mat")
    optional_files: ClassVar[tuple[str, ...]] = ("dblp_train.mat",)
    all_classes: ClassVar[int] = 137
    published: ClassVar[str] = "37/50/50"
    full_setting: ClassVar[Setting] = Setting(
        base=37, pseudo_novel=45, validation=5, novel=50, ways=5, shots=5
    )
    # The roles of classes have the same proportions as in full_setting; each session adds five
    # classes.
    public_setting: ClassVar[Setting] = Setting(
        base=8, pseudo_novel=7, validation=5, novel=10, ways=5, shots=5
    )
