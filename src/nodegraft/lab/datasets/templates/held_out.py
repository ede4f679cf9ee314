"""What must be said of every graph that is held out."""

HELD_OUT_NOTE = (
    "Held out: nothing of a method may be chosen by what it reaches on the test streams of this "
    "graph. Rehearse (--rehearse) until the method is final."
)
