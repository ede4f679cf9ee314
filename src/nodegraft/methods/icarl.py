"""iCaRL: exemplars selected by herding, distillation, and the nearest mean of exemplars."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveFloat, PositiveInt
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import embed_rows
from nodegraft.methods.neural.losses import distillation_loss
from nodegraft.methods.neural.prototypes import class_means, herding, squared_distances
from nodegraft.methods.templates.classifying import Classifying
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class ICaRL(Classifying):
    r"""iCaRL with the GCN encoder of the HAG-Meta paper.

    Exemplars :math:`P_k` of each class are selected by herding. Their total is at most ``budget``,
    divided equally among classes, so older sets shrink when classes are added. A session trains on
    new supports and exemplars together,

    .. math:: L = CE(s, y) + T^2 \, KL\bigl(\sigma(s^{t-1} / T) \,\Vert\,
        \sigma(s_{old} / T)\bigr),

    with the scores :math:`s^{t-1}` of the previous model for the same nodes. The prediction is the
    class with the nearest mean :math:`\mu_k` of exemplars; embeddings and means have length 1. Each
    session recomputes the means of all classes with its encoder.

    Difference from the source: softmax with a temperature instead of one sigmoid per class, because
    the encoder is pre-trained with softmax like that of all other methods here. Rebuffi et al.
    2017, https://arxiv.org/abs/1611.07725.
    """

    steps: NonNegativeInt = 200
    """Number of gradient steps on encoder and head in each session."""

    budget: PositiveInt = 2000
    """Maximum total number of exemplars, divided equally among classes."""

    temperature: PositiveFloat = 2.0
    """Temperature :math:`T` of the distillation loss, which preserves earlier predictions."""

    kept_: KeyedLabels = learned()
    """Exemplars of each class, in the order of selection."""

    means_: Tensor = learned()
    """Mean of each class's exemplars, scaled to length 1."""

    name: ClassVar[str] = "icarl"
    summary: ClassVar[str] = "herded exemplars, distillation, nearest mean of exemplars"
    citation: ClassVar[str] = "Rebuffi et al. 2017 (iCaRL)"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train the classifier, then select exemplars."""
        super().learn_base(view, curriculum)
        self._keep(view, NodeLabels({}), curriculum.train)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Train on new supports and exemplars, with distillation of the previous model's scores."""
        exemplars = self.kept_.on(view)
        together = exemplars | support
        rows, targets, known = together.rows(), self.columns(together), len(self.classes_)
        old_scores = self._answers(view, rows)

        def loss(scores: Tensor) -> Tensor:
            teacher, own = (part.to(scores.device) for part in (old_scores, targets))
            distillation = distillation_loss(scores[:, :known], teacher, self.temperature)
            return F.cross_entropy(scores, own) + distillation

        self.train_on(self.grown(support), view, rows, loss, self.steps)
        self._keep(view, exemplars, support)

    def _keep(self, view: GraphView, exemplars: NodeLabels, support: NodeLabels) -> None:
        own = self.for_embedding(view)
        count = max(1, self.budget // (len(exemplars) + len(support)))
        cut = NodeLabels({name: rows[:count] for name, rows in exemplars.items()})
        kept = cut | NodeLabels(
            {
                name: rows[herding(self._directions(own, rows), count)]
                for name, rows in support.items()
            }
        )
        targets = torch.from_numpy(kept.targets(kept.classes))
        means = class_means(self._directions(own, kept.rows()), targets, len(kept))
        self.kept_ = KeyedLabels.of(kept, view)
        self.means_ = F.normalize(means, dim=1)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the means, exemplars and head rows of the removed classes."""
        super().keep_classes(columns)
        self.means_ = self.means_[torch.from_numpy(columns)]
        self.kept_ = self.kept_.select(self.classes_[column] for column in columns)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return minus the squared distances between normalised embeddings and class means."""
        return -squared_distances(self._directions(view, rows), self.means_)

    @torch.no_grad()
    def _answers(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        classifier = self.classifier()
        return embed_rows(classifier, self.for_embedding(view), rows, classifier.hops)

    def _directions(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        return F.normalize(self.embedding(view, rows), dim=1)
