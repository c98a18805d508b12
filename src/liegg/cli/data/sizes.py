"""Whether what a file declares fits into memory: a few bytes can declare any size."""

from pathlib import Path

from liegg._utils.errors import DataError
from liegg.polarization.memory import free_bytes, readable


def check_fits(path: Path | str, size: int, hint: str = "") -> None:
    """Raise `DataError` if a number of bytes is more than there is memory.

    Args:
        path: what would be read.
        size: bytes that it needs.
        hint: what to do instead.
    """
    free = free_bytes()
    if free is not None and size > free:
        raise DataError(
            f"data '{path}' needs {readable(size)}; {readable(free)} of memory are free.{hint}"
        )
