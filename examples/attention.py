"""What HAG-Meta's two attentions say, in words and as a figure. Needs nodegraft[plots].

python examples/attention.py [attention.svg]
"""

import sys
from pathlib import Path
from tempfile import mkdtemp

import nodegraft as ng
from nodegraft.lab.report.figures.attention import draw_attention

# A weak signal, so that some supports are better examples of their class than others.
data = ng.load_dataset("synthetic", nodes=2000, classes=20, homophily=0.6, signal=2.5)
stream = data.stream(seed=0)

# Far fewer episodes than the default: enough to see something, in seconds.
model = ng.HAGMeta(seed=0, episodes=60)
for session in list(stream)[:4]:
    if session.index == 0:
        model.fit(session.view, stream.curriculum)
    else:
        model.add_classes(session.view, session.support)
    view = session.view

attention = model.attention(view)
for name, weights in attention.nodes.items():
    ordered = sorted(weights.items(), key=lambda item: -item[1])
    # The model knows the nodes of a stream by numbers only; the stream knows what they are.
    keys = stream.user_keys(view.rows_of(key for key, _ in ordered))
    told = (f"node {key} {weight:.3f}" for key, (_, weight) in zip(keys, ordered, strict=True))
    print(f"{name}:", ", ".join(told))
for names, weight in attention.tasks:
    print(f"task of {len(names)} classes ({names[0]}, …): {weight:.3f}")

path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(mkdtemp()) / "attention.svg"
draw_attention(attention).savefig(path)
print(f"The figure is {path}.")
