"""Which named motions are asked about: words, generators or motions become one list."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from liegg._utils.errors import ArgumentError
from liegg.actions import Action, MatrixAction, Motion
from liegg.inputs.task import SIGNALS

About = Any
"""Names of motions that the action knows, a mapping from names to generators, or None for the standard set."""

SAME_GENERATORS = 1e-9
"""Relative difference up to which generators are the same."""


def motions_asked(
    about: About, action: Action, shape: tuple[int, ...], *, spread: float = 1.0
) -> dict[str, Motion]:
    """The motions in question, by name; each is checked against its action.

    Args:
        about: as for `liegg.discover`; None for the standard set of images, volumes, sequences and
            colours, and nothing for other actions.
        action: the candidate generators.
        shape: shape of a sample.
        spread: standard deviation of the values of the samples.

    Raises:
        ArgumentError: a name that the action does not know, or generators that it does not have.
    """
    known = action.motions(shape, spread=spread)
    if about is None:
        about = known if action.stage in SIGNALS else ()
    if isinstance(about, str):
        about = (about,)
    if not isinstance(about, Mapping):
        about = dict.fromkeys(_names(about))
    return {_name(name): _motion(name, given, known, action) for name, given in about.items()}


def _name(name: Any) -> str:
    """A name that can be printed."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ArgumentError(
            f"about={{{name!r}: ...}}: expected a name of printable letters, such as "
            "{'rotation': liegg.so(2)}."
        )
    return name


def _names(about: Any) -> list[str]:
    """The names of an iterable of them."""
    names = list(about) if isinstance(about, Iterable) else [about]
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(
                f"about={about!r}: expected names of motions such as 'rotation', or a mapping from "
                "names to generators such as {'rotation': liegg.so(2)}."
            )
    return names


def _motion(name: str, given: Any, known: Mapping[str, Motion], action: Action) -> Motion:
    """One motion, with its generators as coefficients of its action."""
    if given is None or isinstance(given, str):
        return _known(name if given is None else given, known, action)
    motion = given
    if not isinstance(given, Motion):
        generators = _generators(name, given, action, known)
        motion = Motion(generators, action=_other_action(generators, action, known))
    try:
        coefficients = (motion.action or action).as_coefficients(motion.generators)
    except ArgumentError as error:
        raise ArgumentError(f"about[{name!r}]: {error}") from error
    sizes = coefficients.detach().double().abs().amax(1) if len(coefficients) else torch.zeros(1)
    if not bool(((sizes > 1e-30) & (sizes < 1e30)).all()):  # such entries can be squared
        raise ArgumentError(
            f"about[{name!r}] contains no generators, or one that is zero or too large; expected one or "
            "more of ordinary size, for example liegg.so(2)."
        )
    rows = coefficients.detach().to("cpu", torch.float64)
    if not isinstance(given, Motion):
        motion = _in_units_of(rows, motion.action, known) or motion
    return replace(motion, generators=rows)


def _other_action(
    generators: Tensor, action: Action, known: Mapping[str, Motion]
) -> MatrixAction | None:
    """The action that matrices belong to which the analysed one does not have, such as shifts of linear maps; None for its own."""
    if generators.ndim != 3 or _takes(action, generators):
        return None
    others = (motion.action for motion in known.values() if motion.action is not None)
    return next((one for one in others if _takes(one, generators)), None)


def _takes(action: Action, generators: Float[Tensor, "k n n"]) -> bool:
    """Whether matrices are generators of an action; one that is restricted to some generators projects others onto them."""
    if not isinstance(action, MatrixAction):
        return False
    try:
        own = action.matrices(action.as_coefficients(generators))
    except ArgumentError:
        return False
    more = own.shape[1] - generators.shape[1]  # linear maps may stand for affine ones
    gap = own - pad(generators.to(own), (0, more, 0, more))
    return bool(gap.norm() <= SAME_GENERATORS * own.norm())


def _in_units_of(
    rows: Float[Tensor, "k g"], action: Action | None, known: Mapping[str, Motion]
) -> Motion | None:
    """The motion that has the same generators up to sign, or more of them, which has units; None if no motion does."""
    for motion in known.values():
        own = motion.generators
        if motion.action == action and own.shape[1:] == rows.shape[1:]:
            gaps = torch.minimum(torch.cdist(rows, own), torch.cdist(rows, -own))
            if bool((gaps <= SAME_GENERATORS * own.norm(dim=1)).any(1).all()):
                return motion
    return None


def _known(name: str, known: Mapping[str, Motion], action: Action) -> Motion:
    """A motion that the action has a word for."""
    if name in known:
        motion = known[name]
        rows = (motion.action or action).as_coefficients(motion.generators)
        return replace(motion, generators=rows)
    if not known:
        raise ArgumentError(
            f"about={name!r}: {action!r} has no motions with names. Give its generators, for "
            f"example about={{{name!r}: generators}}."
        )
    guess = get_close_matches(name.lower(), known, n=1)
    hint = f" Did you mean {guess[0]!r}?" if guess else ""
    raise ArgumentError(
        f"about={name!r}: {action!r} knows {', '.join(map(repr, known))}.{hint} Or give its "
        f"generators, for example about={{{name!r}: generators}}."
    )


def _generators(name: str, given: Any, action: Action, known: Mapping[str, Motion]) -> Tensor:
    """Generators as a tensor; a single matrix is one generator."""
    if isinstance(given, np.ndarray):
        given = torch.from_numpy(np.ascontiguousarray(given))
    if not isinstance(given, Tensor):
        raise ArgumentError(
            f"about[{name!r}] is a {type(given).__name__}; expected generators such as "
            "liegg.so(2), a Motion of liegg.actions, or the name of a motion."
        )
    actions = (action, *(motion.action for motion in known.values()))
    sides = [one.ambient for one in actions if isinstance(one, MatrixAction)]
    is_matrix = given.ndim == 2 and given.shape[0] == given.shape[1] in sides
    single = given.ndim == 1 or (is_matrix and action.size != given.shape[1])
    return given[None] if single else given


def spread_of_values(action: Action, x: Tensor) -> float:
    """Standard deviation of the values of samples that are moved; 1 if they do not differ."""
    movable = action.movable(x)
    values = x if movable is None else x[movable]
    return (float(values.double().std()) if values.numel() > 1 else 1.0) or 1.0
