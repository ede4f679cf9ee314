"""Rule about rows that are not in the graph."""

import numpy as np
from scipy.sparse import csr_array

from nodegraft.base.errors import NotSupportedError
from nodegraft.model.contract.case import Case, expect, expect_close, scores


def check_rows_beside_the_graph(case: Case) -> None:
    """A row is scored as if it was alone, and leaves nothing; or the method refuses rows."""
    model, graph = case.taught(), case.graph
    before = scores(model, graph)
    rows = [
        {
            "features": csr_array(graph.features([row])).toarray()[0].tolist(),
            "edges": [{"target": key} for key in graph.keys_of(graph.neighbours([row])[1])],
        }
        for row in range(0, 40, 8)
    ]
    try:
        together = model.predict_table(graph, rows=rows)
    except NotSupportedError:
        return
    alone = np.concatenate([model.predict_table(graph, rows=[row]).probability for row in rows])
    expect_close(together.probability, alone, 1e-5, "a row's prediction depends on other rows")
    expect(np.array_equal(scores(model, graph), before), "rows changed scores of the graph's nodes")
