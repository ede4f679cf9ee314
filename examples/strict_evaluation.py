"""Measure two methods honestly on one stream, from Python instead of the command line.

python examples/strict_evaluation.py
"""

import nodegraft as ng

data = ng.load_dataset("synthetic", nodes=3000, classes=20, homophily=0.6, signal=2.5)
print(f"{data.graph.num_nodes} nodes, {data.graph.num_edges} edges; {data.setting}")

for name in ("graft", "sgc-mean", "proto-gcn"):
    stream = data.stream(seed=0)
    result = ng.evaluate(ng.make_method(name, seed=0), stream)
    curve = " ".join(f"{100 * session.macro_accuracy:.1f}" for session in result.sessions)
    print(f"{name:10} macro accuracy by session: {curve}")
