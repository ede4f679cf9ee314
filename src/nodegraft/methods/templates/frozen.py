"""What methods on a frozen encoder share: it is trained once, then only asked."""

from dataclasses import dataclass
from typing import Literal

from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.encoding import Encoding
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class Frozen(Encoding, Method):
    """The encoder is trained in session 0 and stays as it is."""

    pretrain_on: Literal["base", "known"] = "base"
    """The paper trains it on the base classes; ``"known"`` adds the pseudo-novel ones, which a
    method without practice does not need to keep back."""

    def learn_encoder(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train it and keep its weights.

        Args:
            view: What may be seen of the graph.
            curriculum: Labels of the known classes.
        """
        known = self.pretrain_on == "known"
        encoder = self.new_encoder(view.num_features)
        self.pretrain(encoder, view, curriculum.without_pseudo_novel if known else curriculum)
        self.keep_encoder(encoder)
