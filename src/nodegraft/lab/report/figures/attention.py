"""Figure of HAG-Meta's attention weights: of support nodes and of tasks."""

from dataclasses import dataclass
from math import ceil, isclose

from nodegraft.analysis.rendering.drawing import Axes, Figure, SubFigure, shorten
from nodegraft.base.errors import ParameterError
from nodegraft.methods.hag_meta import Attention

# Colour-blind readers can distinguish this blue and orange (Okabe and Ito), even in greyscale.
MORE, LESS = "#0072B2", "#E69F00"

# Sizes in inches: height of a bar, width of a column of classes, height of a panel's title and
# axis.
LINE, COLUMN, MARGIN = 0.16, 3.4, 1.0
# Heights in lines of text: the name of a class above its bars, and the gap below the bars.
NAME, GAP = 1.0, 0.6
LINES_A_COLUMN, MOST_COLUMNS = 60, 4
# Of a class with more than 2 * ENDS supports, only the ENDS heaviest and the ENDS lightest are
# drawn.
ENDS = 6
# Maximum lengths of labels in characters; TASK_LENGTH is multiplied by the number of columns.
KEY_LENGTH, CLASS_LENGTH, TASK_LENGTH = 16, 24, 21


@dataclass(frozen=True)
class ClassBars:
    """Bars of one few-shot class."""

    name: str
    """Name of the class."""

    num_supports: int
    """Number of supports of the class; there may be fewer bars."""

    bars: tuple[tuple[str, float], ...]
    """Label and weight of each support that is drawn, heaviest first."""

    equal_weight: float
    """Weight that each support would have if all weights were equal."""

    @property
    def is_cut(self) -> bool:
        """Whether the class has more supports than bars."""
        return len(self.bars) < self.num_supports

    @property
    def title(self) -> str:
        """Name of the class, and how many supports are drawn if some are left out."""
        fraction = f" ({len(self.bars)} of {self.num_supports})" if self.is_cut else ""
        return shorten(self.name, CLASS_LENGTH - len(fraction)) + fraction

    @property
    def lines(self) -> float:
        """Height of the class in lines."""
        return NAME + len(self.bars) + GAP


def draw_attention(attention: Attention) -> Figure:
    """Draw bars of attention weights: supports of each few-shot class, and tasks below.

    >>> figure = draw_attention(Attention({"hats": {"p1": 0.3, "p2": 0.7}}, ((("hats",), 1.0),)))
    >>> [label.get_text() for label in figure.subfigs[0].axes[0].get_yticklabels()]
    ['p2', 'p1']
    """
    if not attention.nodes:
        raise ParameterError(
            "There is no few-shot class whose attention could be drawn: "
            "call model.add_classes(graph, labels) first."
        )
    columns = _columns(_rows(attention))
    lines = max(sum(row.lines for row in column) for column in columns)
    heights = [LINE * lines + MARGIN, 1.3 * LINE * len(attention.tasks) + MARGIN]
    width = max(2, len(columns))
    figure = Figure(figsize=(COLUMN * width, sum(heights)))
    # The padding separates the numbers of a column from the keys of the next column.
    figure.set_layout_engine("constrained", w_pad=0.12)
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
    _draw_nodes(above, columns, lines, "class" if _sum_to_1_in_a_class(attention) else "session")
    _draw_tasks(below, attention, TASK_LENGTH * width)
    return figure


def task_label(names: tuple[str, ...], session: int, limit: int) -> str:
    """Return the label of a task; session 0 is the base.

    >>> task_label(("a", "b"), 0, 42), task_label(("hats", "shoes"), 3, 42)
    ('base (2 classes)', 'session 3: hats, shoes')
    >>> task_label(("hats", "shoes", "watches"), 3, 30)
    'session 3: hats, … (3 classes)'

    Args:
        limit: Maximum number of characters; the first class is always named.
    """
    count = f"({len(names)} class{'es' if len(names) > 1 else ''})"
    if session == 0:
        return f"base {count}"
    texts = [shorten(name, CLASS_LENGTH) for name in names]
    label = f"session {session}: {', '.join(texts)}"
    while len(label) > limit and len(texts) > 1:
        texts.pop()
        label = f"session {session}: {', '.join(texts)}, … {count}"
    return label


def _sum_to_1_in_a_class(attention: Attention) -> bool:
    # With nla_normalise="session", weights sum to 1 over all supports of a session, not of a class.
    totals = (sum(weights.values()) for weights in attention.nodes.values())
    return all(isclose(total, 1.0, abs_tol=1e-3) for total in totals)


def _rows(attention: Attention) -> list[ClassBars]:
    together: list[tuple[str, ...]] = [(name,) for name in attention.nodes]
    if not _sum_to_1_in_a_class(attention):
        together = [names for names, _ in attention.tasks if names[0] in attention.nodes]
    sizes = {
        name: sum(len(attention.nodes[other]) for other in names)
        for names in together
        for name in names
    }
    rows = []
    for name, weights in attention.nodes.items():
        ordered = sorted(weights.items(), key=lambda item: -item[1])
        ends = ordered if len(ordered) <= 2 * ENDS else ordered[:ENDS] + ordered[-ENDS:]
        bars = tuple((shorten(key, KEY_LENGTH), weight) for key, weight in ends)
        rows.append(ClassBars(name, len(ordered), bars, equal_weight=1 / sizes[name]))
    return rows


def _columns(rows: list[ClassBars]) -> list[list[ClassBars]]:
    total = sum(row.lines for row in rows)
    count = min(MOST_COLUMNS, ceil(total / LINES_A_COLUMN))
    columns: list[list[ClassBars]] = [[] for _ in range(count)]
    before = 0.0
    for row in rows:
        # A class is drawn in the column that contains its middle, so that no column exceeds its
        # share by more than half a class.
        columns[int(count * (before + row.lines / 2) / total)].append(row)
        before += row.lines
    return [column for column in columns if column]


def _draw_nodes(panel: SubFigure, columns: list[list[ClassBars]], lines: float, whole: str) -> None:
    meaning = "1/K, plain averaging" if whole == "class" else "equal weights"
    meaning += "; orange: less than that"
    if any(row.is_cut for column in columns for row in column):
        meaning += f"; of more than {2 * ENDS}: {ENDS} heaviest, {ENDS} lightest"
    _entitle(
        panel,
        "Node-level attention: what each support counts in its class's prototype",
        f"line: {meaning}",
        f"weight, sums to 1 in a {whole}",
    )
    largest = max(weight for column in columns for row in column for _, weight in row.bars)
    grid = panel.subplots(1, len(columns), squeeze=False)
    for axes, column in zip(grid[0], columns, strict=True):
        _prepare(axes, largest, lines)
        _draw_column(axes, column)


def _draw_column(axes: Axes, column: list[ClassBars]) -> None:
    top, places, labels = 0.0, [], []
    for row in column:
        centres = [top + NAME + place + 0.5 for place in range(len(row.bars))]
        # The title is clipped, so that wide letters do not reach the next column.
        axes.text(
            0.0,
            top + NAME / 2,
            row.title,
            va="center",
            fontsize=8,
            fontweight="bold",
            parse_math=False,
            clip_on=True,
        )
        _draw_bars(axes, centres, [weight for _, weight in row.bars], row.equal_weight)
        places += centres
        labels += [label for label, _ in row.bars]
        top += row.lines
    axes.set_yticks(places, labels, fontsize=7, parse_math=False)


def _draw_tasks(panel: SubFigure, attention: Attention, limit: int) -> None:
    _entitle(
        panel,
        "Task-level attention: what each task counts for the latest one",
        "line: 1/T, equal weights; orange: less than that",
        "weight, sums to 1 over the tasks",
    )
    weights = [weight for _, weight in attention.tasks]
    # If the base classes were removed from the model, the first task is few-shot, too.
    first = int(attention.tasks[0][0][0] in attention.nodes)
    labels = [
        task_label(names, session, limit)
        for session, (names, _) in enumerate(attention.tasks, start=first)
    ]
    axes = panel.subplots()
    _prepare(axes, max(weights), len(weights))
    centres = [place + 0.5 for place in range(len(weights))]
    _draw_bars(axes, centres, weights, 1 / len(weights))
    axes.set_yticks(centres, labels, fontsize=8, parse_math=False)


def _entitle(panel: SubFigure, title: str, line: str, unit: str) -> None:
    panel.suptitle(f"{title}\n{line}", fontsize=9)
    panel.supxlabel(unit, fontsize=8)


def _prepare(axes: Axes, largest: float, lines: float) -> None:
    axes.set_ylim(lines, 0.0)
    # Leave space on the right for the numbers.
    axes.set_xlim(0.0, 1.18 * largest)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=7)


def _draw_bars(axes: Axes, centres: list[float], weights: list[float], equal_weight: float) -> None:
    # Weights are 32-bit floats. Tolerate rounding errors, so that a weight equal to `equal_weight`
    # does not get the colour of smaller weights.
    colours = [LESS if weight < equal_weight * (1 - 1e-5) else MORE for weight in weights]
    axes.barh(centres, weights, height=0.7, color=colours)
    axes.vlines(equal_weight, centres[0] - 0.5, centres[-1] + 0.5, color="black", linewidth=0.8)
    # Draw numbers in their own column: at the ends of bars, the vertical line would cross them.
    right = axes.get_yaxis_transform()
    for centre, weight in zip(centres, weights, strict=True):
        number = f"{weight:.3f}"
        axes.text(1.0, centre, number, ha="right", va="center", fontsize=7, transform=right)
