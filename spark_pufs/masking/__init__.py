"""No secret in anything that is written: addresses and secrets as types, and what is left of them in texts."""

from spark_pufs.masking.texts import foreign, gist, masked, masked_texts, visible

__all__ = ["foreign", "gist", "masked", "masked_texts", "visible"]
