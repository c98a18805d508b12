"""Maps of the space that a sampled signal lives in: images, volumes and sequences."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from liegg._utils.arguments import checked_fields
from liegg._utils.device import to_device
from liegg._utils.errors import ArgumentError, ShapeError
from liegg.actions.finite.grid import GridSpace, ShiftSpace
from liegg.actions.finite.space import Space
from liegg.actions.grid.coordinates import coordinates, paper_coordinates
from liegg.actions.grid.interpolate import resample
from liegg.actions.grid.maps import MapAction
from liegg.actions.grid.stencils import (
    WIDEST,
    Border,
    Filter,
    Scheme,
    along,
    derivative_matrix,
    smoothing_matrix,
)
from liegg.actions.linear import Affine, Linear
from liegg.actions.motion import Motion
from liegg.actions.settings import field_settings

GRID_NAMES = {1: "Sequence", 2: "Image", 3: "Volume"}
SLOPE_ROUNDING = 8.0
"""Rounding units that a zero slope may be off by, per unit of the image's size."""

MAX_SIDE = 4096
"""Pixels along an axis: a derivative is a matrix, of 128 MB for this many."""

GRID_AXES = {1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}


@checked_fields
@dataclass(frozen=True, repr=False)
class Grid(MapAction):
    r"""Linear or affine maps of the coordinates of a signal on a grid: $(T_h f)(p) = f(e^{-h} p)$.

    The field of the unit matrix $E_{ij}$ is $-\partial_i f \cdot \tilde p_j$. The origin is the centre of
    the grid and one unit is half the shorter side, along every axis; $x$ points right along the last
    axis, $y$ up against the second to last, $z$ along the third to last. Positive rotations are
    counter-clockwise.

    With `derivative="secant"`, the default, each candidate moves the samples by a finite amount $s$ in
    both directions, $(T_{s E} f - T_{-s E} f)/(2s)$, so far that the outermost pixels move by `step`
    pixels. The field is the sum of the candidates' secants. For a cubic spline and a pixel that moves by
    $\delta \le 1$ pixels, the secant is $\delta$ times a mixture of two slopes: $1 - \delta^2$ parts of the
    slope of the spline and $\delta^2$ parts of the central difference. At $\delta = 1$, as for a
    translation by one pixel, nothing is interpolated.

    Attributes:
        dimension: number of spatial axes: 1, 2 or 3.
        translations: whether the maps are affine; otherwise they are linear and fix the centre.
        derivative: `"secant"`, or a scheme of `liegg.actions.grid.stencils.derivative_matrix`.
            `"paper"` also uses the paper's coordinates (origin half a pixel off, without the last
            row and column) and its slopes per pixel, which divides every variance by the square of
            half the shorter side.
        border: what lies beyond the border: `"replicate"`, `"zeros"` or `"periodic"`.
        sigma: width in pixels of `derivative="gaussian"`.
        shape: shape of a sample before it was flattened, with or without channels first; needed
            only for flat samples.
        frame: width in pixels of a border whose motion is left out of the field: images that are
            cut off there have no derivative.
        step: how far `derivative="secant"` moves the outermost pixels, in pixels: above 0, at most 1.
    """

    dimension: Literal[1, 2, 3]
    translations: bool = False
    derivative: Scheme = "secant"
    border: Border = "replicate"
    sigma: float = 1.0
    shape: tuple[int, ...] | None = None
    frame: int = 0
    step: float = 1.0

    def __post_init__(self) -> None:
        name = GRID_NAMES[self.dimension]
        if not 0.1 <= self.sigma <= WIDEST:
            raise ArgumentError(
                f"sigma={self.sigma}: expected a width of 0.1 to {WIDEST:g} pixels, for example sigma=1.0."
            )
        if self.frame < 0:
            raise ArgumentError(
                f"frame={self.frame}: expected a number of pixels, 0 or more, for example frame=1."
            )
        if not 0.01 <= self.step <= 1:
            raise ArgumentError(
                f"step={self.step}: expected a distance from 0.01 to 1 pixels, for example step=1.0."
            )
        axes = (self.dimension, self.dimension + 1)
        if self.shape is not None and (len(self.shape) not in axes or min(self.shape) < 1):
            raise ArgumentError(f"{name}(shape={self.shape}): expected {self._expected('(')}.")

    def check(self, shape: tuple[int, ...]) -> None:
        """Samples are a grid, a grid with channels before it, or flat with `shape=` stated."""
        name, flat = GRID_NAMES[self.dimension], math.prod(shape)
        whole = self._whole_shape(shape, name)
        if len(whole) not in (self.dimension, self.dimension + 1):
            hint = ""
            if len(whole) == 1 and self.dimension > 1:
                side = round(flat ** (1 / self.dimension))
                known = (
                    (side,) * self.dimension
                    if side**self.dimension == flat
                    else ("...",) * self.dimension
                )
                hint = f" For flat samples state their shape: {name}(shape=({', '.join(map(str, known))}))."
            raise ShapeError(
                f"a sample has shape {tuple(shape)}; {name}() expects {self._expected('[')}.{hint}"
            )
        sides = whole[-self.dimension :]
        if max(sides) < 2:
            raise ShapeError(f"a sample has shape {tuple(shape)}: a grid of one pixel cannot move.")
        if 2 * self.frame >= min(sides):
            raise ShapeError(
                f"a sample has shape {tuple(shape)}: a frame of {self.frame} pixels leaves nothing of it."
            )
        if max(sides) > MAX_SIDE:
            raise ShapeError(
                f"a sample has shape {tuple(shape)}: {max(sides)} places along an axis; {name}() takes at most {MAX_SIDE}. "
                "Cut it into shorter pieces, or resample it."
            )
        if (
            self.shape is None
            and len(whole) == self.dimension + 1
            and whole[-1] <= 4 < min(whole[:-1])
            and self.dimension > 1
        ):
            raise ShapeError(
                f"a sample has shape {tuple(shape)}, which looks like channels last; {name}() expects {self._expected('[')}. "
                f"Move them first: data.{'permute(0, 3, 1, 2)' if self.dimension == 2 else 'permute(0, 4, 1, 2, 3)'}. "
                f"If the last axis really is space, say so: {name}(shape={tuple(shape)})."
            )

    def act(self, h: Float[Tensor, "..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """Move every sample by exp(h), with cubic interpolation and the border rule."""
        return self.act_all(self._vector(h)[None], x)[0]

    def act_all(
        self, h: Float[Tensor, "m g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "m b ..."]:
        """As `act` for every motion; the splines through the samples are computed once."""
        self.check(tuple(x.shape[1:]))
        signals = self.staged(x)
        # Where the coefficients are: on a GPU the exponential of a small matrix takes dozens of kernels, and waits.
        inverse = torch.linalg.matrix_exp(-self.matrices(h.to(x.dtype))).to(x.device)
        sides = signals.shape[2:]
        unit = min(sides) / 2
        linear = inverse[:, : self.dimension, : self.dimension]
        places = to_device(coordinates(tuple(sides)), x.device, x.dtype) @ linear.mT
        if self.translations:
            places = places + inverse[:, None, : self.dimension, self.dimension]
        middle = (torch.tensor(sides) - 1) / 2
        signs = torch.tensor([1.0, -1.0, 1.0][-self.dimension :])  # only y runs against its axis
        # From (x, y, z) to the order of the axes.
        pixels = places.flip(2) * unit * signs.to(x) + middle.to(x)
        moved = resample(signals.flatten(0, 1), pixels.flatten(0, 1), self.border)
        return moved.unflatten(1, pixels.shape[:2]).movedim(1, 0).reshape(len(h), *x.shape)

    def steps(self, shape: tuple[int, ...]) -> Float[Tensor, " g"]:
        """Size of each candidate at which it moves the outermost pixels by `step` pixels.

        The paper's coordinates and slopes are its own, and are not compared.
        """
        if self.derivative == "paper":
            return torch.zeros(self.size, dtype=torch.float64)
        sides = tuple(self.staged(torch.empty(1, *shape, device="meta")).shape[2:])
        reach = coordinates(sides).abs().amax(0)
        if self.translations:
            reach = torch.cat([reach, torch.ones(1, dtype=torch.float64)])
        each = torch.where(reach > 0, self.step / (min(sides) / 2 * reach), 0.0)
        return each.repeat(self.dimension)

    def precompute(self, x: Float[Tensor, "b ..."], into: Any = None) -> tuple[Tensor, ...]:
        """Slopes `[b, c, p]` along x, y, z per unit of the coordinates, and one scratch array.

        A secant has two slopes along each axis, other schemes have one.
        """
        signals = self.staged(x.to(torch.promote_types(x.dtype, torch.float32)))
        sides, shape = signals.shape[2:], signals.flatten(2).shape
        unit = 1.0 if self.derivative == "paper" else min(sides) / 2
        fits = into and into[0].shape == shape and into[0].dtype == signals.dtype
        room: tuple[Tensor, ...] = into if fits and not torch.is_grad_enabled() else ()
        slopes = []
        for axis, sign in zip(range(-1, -self.dimension - 1, -1), (1.0, -1.0, 1.0), strict=False):
            for kind in self._filters:
                matrix = derivative_matrix(sides[axis], kind, self.border, self.sigma)
                out = room[len(slopes)].view(signals.shape) if room else None
                slope = along(sign * unit * matrix, signals, axis, out=out)
                if kind == "gaussian":
                    for other in set(range(-self.dimension, 0)) - {axis}:
                        slope = along(
                            smoothing_matrix(sides[other], self.border, self.sigma), slope, other
                        )
                slopes.append(slope.flatten(2))
        return (*slopes, room[-1] if room else torch.empty_like(slopes[0]))

    def rounding_motion(
        self, dtype: torch.dtype, input_square: float, shape: tuple[int, ...]
    ) -> float:
        """Squared rounding error of a zero slope, times the squared distance of the farthest pixel."""
        sides = self.staged(torch.empty(1, *shape, device="meta")).shape[2:]
        unit = 1.0 if self.derivative == "paper" else min(sides) / 2
        farthest = float(coordinates(tuple(sides)).square().sum(1).max()) + 1
        return (SLOPE_ROUNDING * torch.finfo(dtype).eps * unit) ** 2 * farthest * input_square

    def tangents(
        self, h: Float[Tensor, "t g"], x: Float[Tensor, "b ..."]
    ) -> Float[Tensor, "t b ..."]:
        """Minus the gradient along the velocity of every pixel; one gradient for all directions."""
        slopes = self.precompute(x)[:-1]
        generators = -h.to(slopes[0]).unflatten(1, (self.dimension, self.ambient))
        velocities = [generators @ weights.mT for weights in self._weights(slopes[0], x)]
        moved = slopes[0] * velocities[0][:, 0, None, None]
        for number, slope in enumerate(slopes[1:], start=1):
            axis, kind = divmod(number, len(velocities))
            moved.addcmul_(slope, velocities[kind][:, axis, None, None])
        return moved.reshape(len(h), *x.shape).to(x.dtype)

    def contract(
        self,
        gradients: Float[Tensor, "b k ..."],
        x: Float[Tensor, "b ..."],
        precomputed: tuple[Tensor, ...] | None = None,
    ) -> Float[Tensor, "b k g"]:
        r"""Inner products $-\sum_p \partial f(p)\, \partial_i x(p)\, \tilde p_j$; no field is formed."""
        *slopes, room = self.precompute(x) if precomputed is None else precomputed
        # The same in every channel.
        weights = [-each.mT.repeat(1, room.shape[1]) for each in self._weights(room, x)]
        space = None if torch.is_grad_enabled() else room
        rows = []
        for gradient in gradients.reshape(*gradients.shape[:2], *room.shape[1:]).unbind(1):
            # One product at a time: each is as large as the batch.
            products = (torch.mul(gradient, slope, out=space).flatten(1) for slope in slopes)
            parts = [
                (weights[number % len(weights)] @ product.mT).mT
                for number, product in enumerate(products)
            ]
            rows.append(torch.cat(parts, dim=1).unflatten(1, (self.dimension, len(weights), -1)))
        return torch.stack(rows, dim=1).sum(3).flatten(2)

    def moment(
        self, x: Float[Tensor, "b ..."], precomputed: tuple[Tensor, ...] | None = None
    ) -> Float[Tensor, "g g"]:
        r"""Sums of $\partial_i x\, \partial_k x\, \tilde p_j \tilde p_l$ over samples, then over pixels."""
        return self.moments(x, torch.zeros(len(x), dtype=torch.int64), 1, precomputed)[0]

    def moments(
        self,
        x: Float[Tensor, "b ..."],
        block: Int[Tensor, " b"],
        count: int,
        precomputed: tuple[Tensor, ...] | None = None,
    ) -> Float[Tensor, "p s s"]:
        """As `moment` for every block; the sums over samples are one matrix product."""
        parts = self.precompute(x) if precomputed is None else precomputed
        channels, d, n = parts[0].shape[1], self.dimension, self.ambient
        *slopes, room = (part.flatten(0, 1) for part in parts)
        weights = [each.double() for each in self._weights(room, x)]
        space = None if torch.is_grad_enabled() else room
        used, place = block.unique(return_inverse=True)
        summed = _sums_over(place.repeat_interleave(channels), max(1, len(used)), room)
        found = weights[0].new_zeros(max(1, len(used)), d, n, d, n)
        for one, other in combinations_with_replacement(range(len(slopes)), 2):
            (i, k), (j, m) = divmod(one, len(weights)), divmod(other, len(weights))
            # Over the samples first, so that the places are summed in float64.
            products = summed(torch.mul(slopes[one], slopes[other], out=space)).double()
            between = (weights[k][:, :, None] * weights[m][:, None]).flatten(1)
            part = (products @ between).unflatten(1, (n, n))
            found[:, i, :, j] += part
            if one != other:
                found[:, j, :, i] += part.mT
        whole = found.new_zeros(count, self.size, self.size)
        whole[to_device(used, whole.device)] = found.reshape(-1, self.size, self.size)[: len(used)]
        return whole

    @property
    def axes(self) -> tuple[str, ...]:
        """The names x (right), y (up), z, one per axis."""
        return ("x", "y", "z")[: self.dimension]

    def settings(self) -> dict[str, Any]:
        """Kind and every field."""
        return field_settings(self)

    def motions(self, shape: tuple[int, ...], *, spread: float = 1.0) -> dict[str, Motion]:
        """Rotation, shift, scaling, shear, and the colours of images."""
        from liegg.actions.grid.named import motions_of_grid

        return motions_of_grid(self, shape, spread)

    def spaces(self, shape: tuple[int, ...]) -> tuple[Space, ...]:
        """Signed permutations of the axes, and circular shifts along each."""
        whole = self._whole_shape(tuple(shape), GRID_NAMES[self.dimension])
        axes = range(len(whole) - 1, len(whole) - 1 - self.dimension, -1)
        return (GridSpace(whole, self.dimension), *(ShiftSpace(whole, axis) for axis in axes))

    @property
    def interpolates(self) -> bool:
        """Always."""
        return True

    @property
    def stage(self) -> str:
        """A grid."""
        return "grid"

    def __repr__(self) -> str:
        always = {"group": "affine" if self.translations else "linear"}
        always |= {"derivative": self.derivative, "border": self.border}
        defaults = {"sigma": 1.0, "shape": None, "frame": 0, "step": 1.0}
        others = {name: getattr(self, name) for name in defaults}
        given = always | {k: v for k, v in others.items() if v != defaults[k]}
        return f"{GRID_NAMES[self.dimension]}({', '.join(f'{k}={v!r}' for k, v in given.items())})"

    @property
    def source(self) -> Linear | Affine:
        """Maps of the coordinates (x, y, z)."""
        return Affine(self.dimension) if self.translations else Linear(self.dimension)

    def _expected(self, bracket: str) -> str:
        axes = ", ".join(GRID_AXES[self.dimension])
        left, right = ("(", ")") if bracket == "(" else ("[", "]")
        return f"{left}{axes}{',' if bracket == '(' and self.dimension == 1 else ''}{right} or {left}channels, {axes}{right}"

    def staged(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b c ..."]:
        """Samples as channels over the grid."""
        whole = x.reshape(x.shape[0], *(self.shape or x.shape[1:]))
        return whole if whole.ndim == self.dimension + 2 else whole.unsqueeze(1)

    @property
    def _filters(self) -> tuple[Filter, ...]:
        """The slopes that a field is made of."""
        return ("spline", "central") if self.derivative == "secant" else (self.derivative,)

    def _weights(self, like: Tensor, x: Float[Tensor, "b ..."]) -> list[Float[Tensor, "p j"]]:
        """Coordinates of every pixel, with a column of ones for translations, for each slope."""
        sides = tuple(self.staged(x[:1]).shape[2:])
        places, kept = (
            paper_coordinates(sides) if self.derivative == "paper" else (coordinates(sides), None)
        )
        if self.translations:
            places = torch.cat([places, torch.ones(len(places), 1, dtype=torch.float64)], dim=1)
        reach = places.abs().amax(0).clamp_min(torch.finfo(torch.float64).tiny)
        if self.frame:
            inside = torch.zeros(sides, dtype=torch.float64)
            inside[tuple(slice(self.frame, side - self.frame) for side in sides)] = 1.0
            places = places * inside.reshape(-1, 1)
        each = [places if kept is None else places * kept]
        if self.derivative == "secant":
            share = (self.step * places / reach).square()  # squared motion of each pixel, in pixels
            each = [places * (1 - share), places * share]
        return [to_device(weights, like.device, like.dtype) for weights in each]


def _sums_over(
    place: Int[Tensor, " b"], count: int, like: Float[Tensor, "b p"]
) -> Callable[[Float[Tensor, "b p"]], Float[Tensor, "k p"]]:
    """Sums of rows by their place: added one by one on a CPU, else by one matrix product."""
    if count > 1 and like.device.type == "cpu":
        return lambda rows: rows.new_zeros(count, rows.shape[1]).index_add_(0, place, rows)
    member = to_device((torch.arange(count)[:, None] == place).to(like.dtype), like.device)
    return lambda rows: member @ rows
