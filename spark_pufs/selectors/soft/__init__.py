"""Methods that rank by soft labels: a cross-fitted teacher fills what is not labelled."""
