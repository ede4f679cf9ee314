"""iCaRL: herded exemplars, distillation from the last model, nearest mean of exemplars."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import Labelled
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.memory.replay import herding, without
from nodegraft.methods.tuned import Tuned
from nodegraft.nn.encoders import embed_rows
from nodegraft.nn.losses import distillation
from nodegraft.nn.prototypes import class_means, squared_distances


@dataclass(kw_only=True)
class ICaRL(Tuned):
    r"""The source's three parts, on the paper's GCN.

    Exemplars :math:`P_k` are chosen by herding, ``budget`` in all, so each class keeps
    ``budget`` / classes of them and older sets are cut as more classes arrive. A session trains
    on new supports and exemplars together,

    .. math:: L = CE(s, y) + T^2 \, KL\bigl(\sigma(s^{t-1} / T) \,\Vert\,
        \sigma(s_{old} / T)\bigr),

    with the scores :math:`s^{t-1}` that the last model gave the same nodes. A node gets the
    class of the nearest mean :math:`\mu_k` of exemplars, embeddings and means of length 1; means
    are taken anew, with the encoder of the session, of all classes.

    Adapted: softmax with a temperature where the source has one sigmoid a class, because the
    encoder is pre-trained with softmax like that of all other methods here. Rebuffi et al. 2017,
    https://arxiv.org/abs/1611.07725.
    """

    steps: int = 200
    budget: int = 2000
    temperature: float = 2.0

    name: ClassVar[str] = "icarl"
    summary: ClassVar[str] = "herded exemplars, distillation, nearest mean of exemplars"
    citation: ClassVar[str] = "Rebuffi et al. 2017 (iCaRL)"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train the classifier, then choose exemplars."""
        super().learn_base(view, curriculum)
        self._keep(view, Labelled({}), curriculum.train)

    def learn_classes(self, view: GraphView, support: Labelled) -> None:
        """Train on supports and exemplars, holding on to the last model's answers."""
        exemplars = without(Labelled(self.kept_), support)
        together = exemplars | support
        rows, targets, known = together.rows(), self.columns(together), len(self.classes_)
        taught = self._answers(view, rows)

        def loss(scores: Tensor) -> Tensor:
            held = distillation(scores[:, :known], taught, self.temperature)
            return F.cross_entropy(scores, targets) + held

        self.tune(self.grown(support), view, rows, loss)
        self._keep(view, exemplars, support)

    def _keep(self, view: GraphView, exemplars: Labelled, support: Labelled) -> None:
        count = max(1, self.budget // (len(exemplars) + len(support)))
        cut = Labelled({name: rows[:count] for name, rows in exemplars.items()})
        kept = cut | Labelled(
            {
                name: rows[herding(self._directions(view, rows), count)]
                for name, rows in support.items()
            }
        )
        targets = torch.from_numpy(kept.targets(kept.classes))
        means = class_means(self._directions(view, kept.rows()), targets, len(kept))
        self.kept_ = kept.lists()
        self.means_: Tensor = F.normalize(means, dim=1)

    def unlearn_classes(self, kept: NDArray[np.int64]) -> None:
        """Drop the other classes' means, exemplars and rows of the head."""
        super().unlearn_classes(kept)
        self.means_ = self.means_[torch.from_numpy(kept)]
        names = [self.classes_[column] for column in kept]
        self.kept_ = Labelled(self.kept_).only(names).lists()

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Minus the squared distance to each mean, all of length 1."""
        return -squared_distances(self._directions(view, rows), self.means_)

    @torch.no_grad()
    def _answers(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        classifier = self.classifier()
        return embed_rows(classifier, view, rows, classifier.hops)

    def _directions(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        return F.normalize(self.embedding(view, rows), dim=1)
