"""No secret in anything that is written: addresses and secrets as types, and what is left of them in texts."""
