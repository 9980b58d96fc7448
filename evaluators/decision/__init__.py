"""Decision: one yes-or-no question, answered by a model that gives a probability."""
