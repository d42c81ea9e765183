"""Methods on counts: rankings, Markov blankets and sets by information and correlation."""
