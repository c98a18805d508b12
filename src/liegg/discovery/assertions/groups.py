"""Groups by their name, and the action that a group has on samples of a shape."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from liegg._utils.arguments import shown
from liegg._utils.errors import ArgumentError, LieggError
from liegg.actions import Action, Affine, Image, Linear, Volume
from liegg.algebra import catalog
from liegg.inputs.batches import Data, as_batches
from liegg.inputs.structure.elements import only_floating
from liegg.inputs.structure.graphs import BATCH
from liegg.inputs.structure.packed import first_element
from liegg.inputs.structure.tree import is_graph, is_tree, tensors

ALGEBRAS: dict[str, Callable[..., Tensor]] = {
    "so": catalog.so,
    "se": catalog.se,
    "o": catalog.so,
    "e": catalog.se,
    "sl": catalog.sl,
    "gl": catalog.gl,
    "sp": catalog.sp,
    "su": catalog.su,
    "u": catalog.u,
    "aff": catalog.aff,
    "translation": catalog.translation,
    "scaling": catalog.scaling,
}
"""Groups by their first word. Of o and e also a reflection is tried."""

AFFINE = ("se", "e", "aff", "translation")
"""Those whose generators are homogeneous."""

EXPECTED_GROUP = (
    "a group such as 'so(3)', 'so(1,3)', 'se(3)', 'o(3)', 'e(3)', 'sl(2)', 'gl(2)', 'su(2)', 'sp(4)', "
    "'aff(2)', 'translation(2)' or 'scaling(3)'; or generators [d, n, n] of your own"
)


Kind = Literal["rotation", "translation", "other"]


class Group(NamedTuple):
    """A group that is asked about.

    Attributes:
        name: as it was written; empty for generators without a name.
        generators: of its continuous part.
        dimension: of the vectors that it moves.
        affine: whether its matrices are homogeneous.
        reflects: whether a reflection belongs to it.
    """

    name: str
    generators: Float[Tensor, "d ..."]
    dimension: int
    affine: bool = False
    reflects: bool = False

    @property
    def kinds(self) -> list[Kind]:
        """What each generator does; coefficients of another action do not tell."""
        kinds: list[Kind] = ["other"] * len(self.generators)
        for place, matrix in enumerate(self.generators.double()):
            linear = matrix[: self.dimension, : self.dimension] if matrix.ndim == 2 else None
            if linear is not None and not bool(linear.any()):
                kinds[place] = "translation"
            elif linear is not None and torch.allclose(linear, -linear.mT):
                kinds[place] = "rotation"
        return kinds


def as_group(given: str | Float[Tensor, "d ..."]) -> Group:
    """A group from its name, or from generators.

    Raises:
        ArgumentError: there is no such group.

    Examples:
        >>> as_group("SO(3)").generators.shape, as_group("se(2)").affine, as_group("o(3)").reflects
        (torch.Size([3, 3, 3]), True, True)
    """
    if isinstance(given, Tensor):
        return Group("", given, given.shape[-1])
    match = re.fullmatch(
        r"\s*([a-z]+)\s*\(\s*(\d{1,3})\s*(?:,\s*(\d{1,3})\s*)?\)\s*", given.lower()
    )
    if match is None or match[1] not in ALGEBRAS:
        raise ArgumentError(f"group={shown(given)}: expected {EXPECTED_GROUP}.")
    word, sizes = match[1], [int(size) for size in match.groups()[1:] if size]
    try:
        generators = ALGEBRAS[word](*sizes)
    except (LieggError, TypeError) as error:
        raise ArgumentError(f"group={shown(given)}: {error}") from error
    if not len(generators):
        raise ArgumentError(f"group={shown(given)} has no continuous element; nothing to test.")
    affine = word in AFFINE
    return Group(given, generators, generators.shape[-1] - affine, affine, word in ("o", "e"))


def action_for(group: Group, shape: tuple[int, ...]) -> Action:
    """The action of a group on samples of a shape, where only one is possible.

    The only axis of the group's dimension holds the vectors. Samples with two or three more axes of
    other sizes are images or volumes.

    Raises:
        ArgumentError: several actions are possible, or none.

    Examples:
        >>> action_for(as_group("se(3)"), (20, 3))
        Affine(n=3, copies=20, layout='copies_first')
        >>> action_for(as_group("so(2)"), (1, 28, 28)).size
        4
    """
    n, name = group.dimension, group.name or "the group"
    make = Affine if group.affine else Linear
    places = [axis for axis, side in enumerate(shape) if side == n]
    call = f"liegg.{make.__name__}({n}, copies=...)"
    if len(places) == 1 and len(shape) <= 2:
        copies = shape[1 - places[0]] if len(shape) == 2 else 1
        layout = "copies_first" if places[0] == len(shape) - 1 else "vector_first"
        return make(n, copies=copies, layout=layout)
    if not places and n in (2, 3) and n <= len(shape) <= n + 1:
        grid = "affine" if group.affine else "linear"
        return Image(grid) if n == 2 else Volume(grid)
    reason = "several axes have" if len(places) > 1 else "no axis has"
    if len(places) == 1:
        reason = "there are more axes beside the one that has"
    raise ArgumentError(
        f"samples have shape {shape}: {reason} the size {n} of a vector of {name}, so that it is not "
        f"clear how it acts. Pass action={call} or another action."
    )


def action_on(group: Group, batch: Data, action: Any) -> Any:
    """The action that was given, or the only one that the group can have on samples of this shape."""
    if action is not None:
        return action
    listed = isinstance(batch, list) and bool(batch)
    if is_tree(batch) or (listed and is_tree(batch[0])):
        return _action_inside(group, batch)
    if listed:
        _check_batches(group, batch)
    first = next(iter(as_batches(batch)))
    return action_for(group, tuple(first.shape[1:]))


def _action_inside(group: Group, batch: Data) -> dict[str, Action]:
    """The action of a group on the only tensor of structured samples that can hold its vectors.

    Raises:
        ArgumentError: there are several, or none.
    """
    element, complete = first_element(batch)
    found = tensors(element)
    alone = not complete or is_graph(element) or BATCH in found  # not along a first axis of samples
    n, make = group.dimension, Affine if group.affine else Linear

    def in_sample(shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if alone else shape[1:]

    def fits(shape: tuple[int, ...]) -> bool:
        return in_sample(shape)[-1:] == (n,)

    path = only_floating(element, fits, f"liegg.{make.__name__}({n})")
    shape = in_sample(tuple(found[path].shape))
    if len(shape) == 2 and shape[1] == n and (alone or shape[0] != n):
        return {path: make(n, copies=None)}
    return {path: action_for(group, shape)}


def _check_batches(group: Group, batch: Sequence[Any]) -> None:
    """Raise `ArgumentError` for a list of points of different numbers, which may be clouds or batches of vectors."""
    sizes: list[tuple[int, ...]] = [tuple(getattr(one, "shape", ())) for one in batch]
    points = all(len(size) == 2 and size[1] == group.dimension for size in sizes)
    if points and len({size[0] for size in sizes[:-1]}) > 1:
        make = "Affine" if group.affine else "Linear"
        raise ArgumentError(
            f"the data is a list of tensors {sizes[0]}, {sizes[1]} and so on, which may be clouds of points or batches of "
            f"vectors. Pass action=liegg.{make}({group.dimension}, copies=None) for clouds, "
            f"liegg.{make}({group.dimension}) for batches."
        )


def on_outputs(action: Action | None, group: Group) -> Float[Tensor, "d m"] | None:
    """What the generators do to an output: the same matrix, without its translation where outputs have none."""
    if action is None:
        return None
    matrices = group.generators
    try:
        return action.as_coefficients(matrices, "group").to(torch.float64)
    except ArgumentError:
        if not group.affine:
            raise
        n = group.dimension
        return action.as_coefficients(matrices[:, :n, :n], "group").to(torch.float64)
