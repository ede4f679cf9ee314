"""The terms of a report, for readers who meet them for the first time."""

GLOSSARY = {
    "the paper": "“Graph Few-shot Class-incremental Learning”, which this library began with; its "
    "method is hag-meta.",
    "session": "A step in which new classes arrive, each with a handful of labelled nodes. Before "
    "session 1 the model is trained on classes with many labels; that is session 0. After every "
    "session it is asked about unseen nodes of all classes so far.",
    "N-way, K-shot": "N new classes in a session, K labelled nodes for each.",
    "known, novel": "Known classes were there at session 0, novel ones arrived later. Base and "
    "pseudo-novel classes are both known; some methods practise learning on the latter.",
    "macro accuracy": "The share of nodes classified correctly, counted for each class and "
    "averaged over classes: small classes count like large ones. Micro accuracy counts every node "
    "alike.",
    "A0, last": "Macro accuracy at session 0 and after the last session.",
    "average": "Macro accuracy averaged over all sessions.",
    "PD, RPD": "Performance drop, A0 minus last, in points; and the same as a share of A0, in %. "
    "Low drops are cheap for a method that starts badly: never choose by them alone.",
    "harmonic mean": "Of the accuracies on known and on novel classes, after the last session: "
    "high only if both are.",
    "behind": "Difference to the best method of the table, in points, paired by seed.",
    "strict": "The protocol of this benchmark: no label of a node that is asked about is given to "
    "a method, and classes that have not arrived yet are invisible. Tests check the leaks that are "
    "known; a method that sets out to cheat from within the process is not stopped.",
    "published (leaky)": "The protocol of the paper's own code, in which labels of the nodes asked "
    "about reach the model. Its numbers are shown beside strict ones, never among them.",
    "upper reference": "A method that is given most labels of the new classes: what could be "
    "reached, not a competitor.",
    "±, interval, n": "Half the width of the 95 % interval of the mean over seeds (Student's t); "
    "n is how many seeds there are, where methods have different numbers of them. Intervals are "
    "not corrected for multiple comparisons: of many of them, some miss by chance.",
    "seed": "Decides which classes are new, which nodes are labelled and how a method starts. All "
    "methods of a seed get the same split.",
    "training s, session s": "Seconds of learning: session 0, and the mean of the later ones, on "
    "the machine that made the records, and with what else it was doing.",
    "kept MB": "What a model has to keep between sessions, in megabytes (10⁶ bytes).",
}
