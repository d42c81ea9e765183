"""The open benchmark: small real tables, a few labels, k columns chosen, and a classifier judged by the truth."""
