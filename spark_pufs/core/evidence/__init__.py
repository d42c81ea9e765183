"""How good a selection is: classifiers, folds, PU scores, the label rate, stability."""
