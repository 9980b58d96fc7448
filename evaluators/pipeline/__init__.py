"""Units in, verdicts and decisions out: selection, judging, retry, and the hand-over to where scores go."""
