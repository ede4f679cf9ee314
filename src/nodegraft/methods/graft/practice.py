"""Fit signal weights, open-set score and confidence in episodes of known classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.graft.classes import Floats, LabelledClasses
from nodegraft.methods.graft.confidence import ALWAYS_KNOWN, fit_calibration, fit_open_set
from nodegraft.methods.graft.evidence import Evidence
from nodegraft.methods.graft.regression import fair_sample
from nodegraft.methods.graft.signals import NodeBatch, Signal, SignalKind
from nodegraft.methods.linear import loglinear
from nodegraft.streams.episodes.mixed import MixedEpisode, queried_nodes

STAGES = 3
"""Number of scoring stages. The first uses means of labels only; each later stage uses means that
were refined with the scores of the previous stage."""

LEAST_SPREAD = 0.01
"""Minimum standard deviation of a diffusion signal across classes; 0.6 to 1.4 is usual."""

STANDARD_ERRORS = 2.0
"""Minimum gain of an optional signal in standard errors; others are dropped."""

LEAST_NOISE = 0.05
"""Minimum share of labels that look random; below it, no label is treated as wrong."""


class Mixture(NamedTuple):
    """Signal weights, and coefficients of the open-set score."""

    weights: Floats
    """Weight of each signal: the score is their weighted sum."""

    open_set: Floats
    """Coefficients of :func:`~nodegraft.methods.graft.confidence.known_class_probability`."""


@dataclass(frozen=True)
class Round:
    """Practice episode with its signal values in the current stage.

    Args:
        evidence: Evidence, which computes signal values.
        signals: Signals in use. The last signal is the term for few labels; its weight may be
            negative.
        classes: Classes of the episode.
        queries: Query nodes of all episodes.
        query_values: Signal values of ``queries``.
        known: Positions in ``queries`` of this episode's query nodes of known classes.
        targets: Class index of each query at ``known``.
        unknown: Positions in ``queries`` of nodes whose class is unknown in this episode.
        pool: Unlabelled nodes that refine means.
        pool_values: Signal values of ``pool``.
    """

    evidence: Evidence
    signals: tuple[Signal, ...]
    classes: LabelledClasses
    queries: NodeBatch
    query_values: loglinear.Signals
    known: NDArray[np.int64]
    targets: NDArray[np.int64]
    unknown: NDArray[np.int64]
    pool: NodeBatch
    pool_values: loglinear.Signals

    @property
    def values(self) -> loglinear.Signals:
        """Signal values of this episode's queries."""
        return self.query_values[:, self.known]

    @property
    def unknown_values(self) -> loglinear.Signals:
        """Signal values of nodes whose class is unknown in this episode."""
        return self.query_values[:, self.unknown]

    def refined(self, mixture: Mixture) -> "Round":
        """Return the round with refined means; this changes the signal values of this round, too.

        Args:
            mixture: Weights and open-set coefficients of the previous stage.
        """
        if not self.classes.few.size:
            return self
        scores = np.tensordot(mixture.weights, self.pool_values, 1)
        classes = self.evidence.refined(self.classes, self.pool, scores, mixture.open_set)
        for values, nodes in ((self.query_values, self.queries), (self.pool_values, self.pool)):
            self.evidence.refresh(self.signals, values, nodes, classes)
        return replace(self, classes=classes)

    def without(self, dropped: Sequence[Signal]) -> "Round":
        """Return a copy of the round without the given signals."""
        places = [place for place, signal in enumerate(self.signals) if signal not in dropped]
        return replace(
            self,
            signals=tuple(self.signals[place] for place in places),
            query_values=self.query_values[places],
            pool_values=self.pool_values[places],
        )


def practise(
    evidence: Evidence,
    episodes: Sequence[MixedEpisode],
    labelled: NodeLabels,
    *,
    refine: bool,
    kept_labels: int,
    listener: Listener,
) -> tuple[list[Mixture], list[Round]]:
    """Fit a mixture for each stage; return the mixtures and the rounds of the last stage.

    Args:
        episodes: Episodes made of known classes; at least one.
    """
    rounds = list(_play(evidence, episodes, labelled, refine, kept_labels, listener))
    rounds = _drop_flat_diffusion(rounds)
    mixture = _fit_mixture(rounds, listener=listener)
    kinds: tuple[SignalKind, ...] = ("edge types", "diffusion")
    for kind in kinds:
        rounds, mixture = _drop_useless(rounds, mixture, kind, listener)
    stages = [mixture]
    while refine and len(stages) < STAGES:
        rounds = [practice.refined(stages[-1]) for practice in rounds]
        stages.append(_fit_mixture(rounds, stages[-1].weights, listener))
    return stages + stages[-1:] * (STAGES - len(stages)), rounds


def _play(
    evidence: Evidence,
    episodes: Sequence[MixedEpisode],
    labelled: NodeLabels,
    refine: bool,
    kept_labels: int,
    listener: Listener,
) -> Iterator[Round]:
    """Yield the round of the first stage for each episode, with class means of labels only."""
    rows = queried_nodes(episodes)
    queries = evidence.nodes(rows)
    for number, episode in enumerate(episodes, start=1):
        many, few = episode.tasks
        labels = [*many.values(), *few.values()]
        used = [fair_sample(evidence.view, members, kept_labels) for members in labels]
        counts = np.array([members.size for members in labels])
        classes = evidence.labelled(used, counts, np.arange(len(many)), practice=True)
        pool: IntArray = rows[:0]
        if refine and classes.few.size:
            # The pool excludes labels and nodes of classes that are unknown in this episode.
            absent = labelled.select(set(labelled) - set(many) - set(few))
            without = np.concatenate((many.rows(), few.rows(), absent.rows()))
            pool = evidence.pool(classes, evidence.sample(without), without)
        near, vectors = evidence.nodes(pool), evidence.class_vectors(classes)
        listener.step("calibrate on known classes", number, len(episodes))
        query_values = evidence.values(queries, vectors, np.float32)
        pool_values = evidence.values(near, vectors, np.float32)
        # Drop blocks of neighbours: they are large and not needed any more.
        yield Round(
            evidence,
            evidence.signals,
            replace(classes, means=classes.means[: len(evidence.features.layers)], regressions=[]),
            queries,
            query_values,
            np.searchsorted(rows, episode.query.rows()),
            episode.targets,
            np.searchsorted(rows, episode.unknown),
            near.without_blocks(),
            pool_values,
        )


def _drop_flat_diffusion(rounds: list[Round]) -> list[Round]:
    """Drop diffusion times at which heat is almost even for all classes.

    The remaining differences are mostly numerical error, which the fitted weights would amplify
    hundreds of times.
    """
    diffusion = [signal for signal in rounds[0].signals if signal.kind == "diffusion"]
    # Diffusion signals are the first signals in the list.
    values = [practice.query_values[: len(diffusion)] for practice in rounds]
    spreads = [(part - part.mean(axis=2, keepdims=True)).std(axis=(1, 2)) for part in values]
    pairs = zip(diffusion, np.mean(spreads, axis=0), strict=True)
    flat = [signal for signal, spread in pairs if spread < LEAST_SPREAD]
    return [practice.without(flat) for practice in rounds]


def _drop_useless(
    rounds: list[Round], mixture: Mixture, kind: SignalKind, listener: Listener
) -> tuple[list[Round], Mixture]:
    """Drop all signals of one kind if they do not improve the predictions of practice.

    They are kept if their mean gain in balanced log-likelihood over the rounds is above
    :data:`STANDARD_ERRORS` standard errors.
    """
    dropped = [signal for signal in rounds[0].signals if signal.kind == kind]
    if not dropped:
        return rounds, mixture
    others = [practice.without(dropped) for practice in rounds]
    other = _fit_mixture(others, listener=listener)
    gains = np.array(
        [
            loglinear.balanced_likelihood(mixture.weights, practice.values, practice.targets)
            - loglinear.balanced_likelihood(other.weights, less.values, less.targets)
            for practice, less in zip(rounds, others, strict=True)
        ]
    )
    error = gains.std(ddof=1) / np.sqrt(gains.size) if gains.size > 1 else np.inf
    is_gain = gains.mean() > STANDARD_ERRORS * error
    return (rounds, mixture) if is_gain else (others, other)


def _fit_mixture(
    rounds: Sequence[Round], start: Floats | None = None, listener: Listener = SILENT
) -> Mixture:
    """Fit the weights by balanced maximum likelihood, and the open-set coefficients.

    The open-set coefficients are fitted on rounds with nodes of unknown classes. Without such
    rounds, every node is assumed to belong to a known class.
    """
    pairs = [(practice.values, practice.targets) for practice in rounds]
    weights = loglinear.mixture_weights(pairs, num_signed=1, start=start, listener=listener)
    mixed = [practice for practice in rounds if practice.unknown.size]
    if not mixed:
        return Mixture(weights, ALWAYS_KNOWN)
    known = [np.tensordot(weights, practice.values, 1).max(axis=1) for practice in mixed]
    unknown = [np.tensordot(weights, practice.unknown_values, 1).max(axis=1) for practice in mixed]
    return Mixture(weights, fit_open_set(np.concatenate(known), np.concatenate(unknown)))


def fit_confidence(rounds: Sequence[Round], weights: Floats, wrong_labels: bool = False) -> Floats:
    """Fit the coefficients of the confidence on predictions of practice rounds.

    They are used by :func:`~nodegraft.methods.graft.confidence.calibrated_probabilities`.

    Args:
        wrong_labels: Whether to weight labels by their chance to be right
            (:func:`~nodegraft.methods.linear.loglinear.label_noise`), if more than
            :data:`LEAST_NOISE` of them look wrong.
    """
    # This import is slow, and only a fit needs it.
    from scipy.special import softmax

    predictions = []
    for practice in rounds:
        probabilities = softmax(np.tensordot(weights, practice.values, 1), axis=1)
        right = probabilities.argmax(axis=1) == practice.targets
        predictions.append((probabilities, practice.classes.scarcity, right))
    if not wrong_labels:
        return fit_calibration(predictions)
    pairs = [(practice.values, practice.targets) for practice in rounds]
    noise, trust = loglinear.label_noise(pairs, weights, num_signed=1)
    return fit_calibration(predictions, np.concatenate(trust) if noise > LEAST_NOISE else None)
