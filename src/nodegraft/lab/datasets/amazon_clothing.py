"""Amazon-Clothing dataset: products, joined if customers viewed them together."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.templates.matlab import MatlabDataset
from nodegraft.streams.setting import Setting


@dataclass(kw_only=True)
class AmazonClothing(MatlabDataset):
    """Product graph of one shop: word counts as features, 77 fine categories as classes.

    The training half (``Amazon_clothing_train.mat``) is hard to obtain. The test half loads without
    it and has 20 classes.

    >>> AmazonClothing.full_setting.classes, AmazonClothing.public_setting.classes
    (77, 20)
    """

    name: ClassVar[str] = "amazon-clothing"
    summary: ClassVar[str] = "shop products viewed together; classes are fine product categories"
    citation: ClassVar[str] = (
        "McAuley et al. 2015, Inferring networks of substitutable and complementary products; "
        "few-shot graph of Ding et al. 2020, Graph prototypical networks"
    )
    site: ClassVar[str] = "https://github.com/Zhen-Tan-dmml/GFCIL"
    folders: ClassVar[tuple[str, ...]] = ("amazon-clothing", "amazon-clothing-public")
    required_files: ClassVar[tuple[str, ...]] = (
        "Amazon_clothing_network",
        "Amazon_clothing_test.mat",
    )
    optional_files: ClassVar[tuple[str, ...]] = ("Amazon_clothing_train.mat",)
    all_classes: ClassVar[int] = 77
    published: ClassVar[str] = "20/30/27"
    full_setting: ClassVar[Setting] = Setting(
        base=20, pseudo_novel=27, validation=3, novel=27, ways=3, shots=5
    )
    public_setting: ClassVar[Setting] = Setting(
        base=6, pseudo_novel=3, validation=2, novel=9, ways=3, shots=5
    )
