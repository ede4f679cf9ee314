"""ogbn-products dataset: products of a shop, joined if they are bought together."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.lab.datasets.templates.numbered import OGB_FILES, OgbDataset


@dataclass(kw_only=True)
class OgbnProducts(OgbDataset):
    """Products: reduced word counts of descriptions as features, 47 categories as classes."""

    name: ClassVar[str] = "ogbn-products"
    summary: ClassVar[str] = "products joined if bought together; classes are categories"
    fetch: ClassVar[str] = "unpack https://snap.stanford.edu/ogb/data/nodeproppred/products.zip"
    folders: ClassVar[tuple[str, ...]] = ("ogbn-products", "products", "ogbn_products")
    mapping: ClassVar[str] = "mapping/labelidx2productcategory.csv.gz"
    required_files: ClassVar[tuple[str, ...]] = (*OGB_FILES, mapping)
