"""Samples that are one or several vectors, in the layouts that linear and affine actions accept."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor

from liegg._utils.errors import ArgumentError, ShapeError

Layout = Literal["copies_first", "vector_first"]


def as_vectors(
    x: Float[Tensor, "b ..."], n: int, copies: int, layout: str
) -> Float[Tensor, "b copies n"]:
    """View samples of any accepted shape as `copies` vectors of dimension `n`."""
    if layout == "copies_first":
        return x.reshape(x.shape[0], copies, n)
    return x.reshape(x.shape[0], n, copies).mT


def from_vectors(
    vectors: Float[Tensor, "b copies n"], like: Float[Tensor, "b ..."], layout: str
) -> Float[Tensor, "b ..."]:
    """Inverse of `as_vectors`: back to the shape of `like`."""
    return (vectors if layout == "copies_first" else vectors.mT).reshape(like.shape)


def check_vectors(shape: tuple[int, ...], n: int, copies: int, layout: str, name: str) -> None:
    """Raise `ShapeError` unless a sample is `copies` vectors of dimension `n` in this layout."""
    shape = tuple(shape)
    stacked = (copies, n) if layout == "copies_first" else (n, copies)
    accepted = {stacked, (n * copies,)}
    if shape in accepted or (shape == () and n * copies == 1):
        return
    hint = " For a list of single samples pass torch.stack(samples)." if shape == () else ""
    if shape == stacked[::-1]:
        other = "vector_first" if layout == "copies_first" else "copies_first"
        hint = f" The axes are swapped: pass {name}({n}, copies={copies}, layout='{other}')."
    elif len(shape) == 2:
        vectors = f"{shape[0]} vectors of dimension {shape[1]}"
        hint = f" For {vectors} pass {name}({shape[1]}, copies={shape[0]})."
    elif len(shape) == 1 and shape[0] % n == 0:
        count = shape[0] // n
        hint = f" For {count} vectors of dimension {n} pass {name}({n}, copies={count})."
    elif len(shape) == 1:
        hint = f" For one vector of dimension {shape[0]} pass {name}({shape[0]})."
    elif len(shape) == 3:
        hint = " For images pass liegg.Image()."
    wanted = " or ".join(map(str, sorted(accepted, key=len)))
    raise ShapeError(
        f"a sample has shape {shape}; {name}({n}, copies={copies}) expects {wanted}." + hint
    )


def check_sizes(n: int, copies: int, layout: str, name: str) -> None:
    """Raise `ArgumentError` for a size below 1 or an unknown layout."""
    if n < 1 or copies < 1:
        raise ArgumentError(
            f"{name}({n}, copies={copies}): both must be positive, for example {name}(5, copies=2)."
        )
    if layout not in ("copies_first", "vector_first"):
        raise ArgumentError(
            f"layout={layout!r}: expected 'copies_first' (samples [copies, n]) or 'vector_first' "
            "(samples [n, copies])."
        )
