"""Shape contracts are enforced in the tests only: every `liegg` module is imported through jaxtyping's hook."""

from jaxtyping import install_import_hook

install_import_hook("liegg", "beartype.beartype")
