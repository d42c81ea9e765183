"""Where rows are: the protocols that selectors rely on, and the engine of this process."""
