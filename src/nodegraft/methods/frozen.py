"""What methods on a frozen encoder share: it is trained once, then only asked."""

from dataclasses import dataclass
from typing import Literal

from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.encoding import Encoding


@dataclass(kw_only=True)
class Frozen(Encoding):
    """The paper trains it on the base classes; ``pretrain_on="known"`` adds the pseudo-novel ones,
    which a method without practice does not need to keep back.
    """

    pretrain_on: Literal["base", "known"] = "base"

    def learn_encoder(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train it and keep its weights."""
        taught = curriculum.undivided if self.pretrain_on == "known" else curriculum
        encoder = self.new_encoder(view.num_features)
        self.pretrain(encoder, view, taught)
        self.keep_encoder(encoder)
