"""Linux dataset: kernel source files, joined by symbols, headers and build options."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.lab.datasets.templates import readers
from nodegraft.lab.datasets.templates.dataset import HELD_OUT_NOTE, Dataset, LoadedDataset
from nodegraft.lab.datasets.templates.text_graph import in_large_classes
from nodegraft.streams.setting import Setting

CLASSES, NODES, EDGES, TERMS = "classes.tsv", "nodes.tsv.xz", "edges.tsv.xz", "terms.txt.xz"
# ``symbol``: the source uses a name that only the target exports. ``header``: both include a header
# that few files include. ``depends``: the build option of the source depends on another option.
# ``select``: the build option of the source enables another option. The target is the largest file
# of the other option.
KINDS: Mapping[str, bool] = {"symbol": True, "header": False, "depends": True, "select": True}
# Words that occur in fewer files are names and typos; words that occur in a larger share of files
# are uninformative.
FEWEST_FILES, LARGEST_SHARE = 5, 0.2


@dataclass(kw_only=True)
class LinuxSources(Dataset):
    """Graph of C files: words of comments as features, 67 subsystem directories as classes."""

    smallest_class: PositiveInt = 60
    """Minimum number of files of a directory; smaller directories are left out."""

    name: ClassVar[str] = "linux-sources"
    summary: ClassVar[str] = "kernel files joined by use; classes are subsystems (held out)"
    citation: ClassVar[str] = "Linux 6.1, Debian package linux-source-6.1 6.1.190-1 (GPL-2)"
    licence: ClassVar[str] = "GPL-2.0 with the system-call note"
    site: ClassVar[str] = "https://www.kernel.org"
    folders: ClassVar[tuple[str, ...]] = ("linux-sources",)
    required_files: ClassVar[tuple[str, ...]] = (CLASSES, NODES, EDGES, TERMS)

    def parse(self, files: dict[str, Path]) -> LoadedDataset:
        """Parse the raw files; the class of a file is its directory.

        Paths and file names are not read, because they reveal the directory.
        """
        sources = readers.read_nodes(files[NODES], files[CLASSES], 3, 3)
        nodes = in_large_classes(sources, self.smallest_class)
        words = sum(1 for _ in readers.read_lines(files[TERMS]))
        counts = distinctive_words(readers.read_counts((node.text for node in nodes), words))
        edges = readers.read_typed_edges(files[EDGES], KINDS)
        graph, labels = readers.typed_graph(nodes, readers.weighted_counts(counts), edges)
        setting = Setting(
            base=22, pseudo_novel=12, validation=3, novel=30, ways=5, shots=5, base_nodes=100
        )
        notes = (HELD_OUT_NOTE, readers.COUNTS_NOTE)
        return LoadedDataset(self.name, graph, labels, setting, notes=notes)


def distinctive_words(counts: "csr_array[Any]") -> "csr_array[Any]":
    """Return the columns of words that are neither too rare nor too frequent.

    >>> files = np.arange(30)[:, None]  # The words are in 4, 5, 6 and 7 of them.
    >>> distinctive_words(csr_array(1.0 * (files < [4, 5, 6, 7]))).sum(axis=0).tolist()
    [5.0, 6.0]
    """
    files = np.bincount(counts.indices, minlength=counts.shape[1])
    is_usual = (files >= FEWEST_FILES) & (files <= LARGEST_SHARE * counts.shape[0])
    return csr_array(counts[:, np.flatnonzero(is_usual)])
