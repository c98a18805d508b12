"""A dense reference for the fields of signals on a grid: loops over pixels, in numpy."""

import math
from itertools import product

import numpy as np


def value(signal, index, border):
    """Pixels `[b, c]` of a signal `[b, c, *sides]` at a place that may lie outside."""
    sides = signal.shape[2:]
    if border == "periodic":
        index = [i % side for i, side in zip(index, sides, strict=True)]
    elif border == "replicate":
        index = [min(max(i, 0), side - 1) for i, side in zip(index, sides, strict=True)]
    elif not all(0 <= i < side for i, side in zip(index, sides, strict=True)):
        return np.zeros(signal.shape[:2])
    return signal[(slice(None), slice(None), *index)]


def stepped(index, axis, step):
    return [i + step * (a == axis) for a, i in enumerate(index)]


def central_slope(signal, index, axis, border, _):
    return (
        value(signal, stepped(index, axis, 1), border)
        - value(signal, stepped(index, axis, -1), border)
    ) / 2


def paper_slope(signal, index, axis, *_):
    if index[axis] == signal.shape[2 + axis] - 1:
        return np.zeros(signal.shape[:2])
    return value(signal, stepped(index, axis, 1), "zeros") - value(signal, index, "zeros")


def gaussian_slope(signal, index, axis, border, sigma):
    """Differentiated along one axis and smoothed along the others; a ramp keeps its slope."""
    reach = range(-math.ceil(4 * sigma), math.ceil(4 * sigma) + 1)
    bell = {o: math.exp(-(o**2) / (2 * sigma**2)) for o in reach}
    smooth = {o: weight / sum(bell.values()) for o, weight in bell.items()}
    slope = {o: o * weight / sum(k * k * bell[k] for k in reach) for o, weight in bell.items()}
    total = np.zeros(signal.shape[:2])
    for offset in np.ndindex(*[len(reach)] * len(index)):
        steps = [reach[o] for o in offset]
        weight = math.prod(
            slope[step] if a == axis else smooth[step] for a, step in enumerate(steps)
        )
        total += weight * value(
            signal, [i + step for i, step in zip(index, steps, strict=True)], border
        )
    return total


def spectral_slope(signal, index, axis, border, _):
    """Slope of the sum of waves (of cosines that are flat at both ends) that passes through the pixels along an axis."""
    side = signal.shape[2 + axis]
    line = [
        value(signal, [i if a != axis else k for a, i in enumerate(index)], "zeros")
        for k in range(side)
    ]
    total, at = np.zeros(signal.shape[:2], complex), index[axis]
    if border == "periodic":
        for k in range(-((side - 1) // 2), (side - 1) // 2 + 1):
            rate = 2j * math.pi * k / side
            total += (
                rate
                * np.exp(rate * at)
                * sum(f * np.exp(-rate * i) for i, f in enumerate(line))
                / side
            )
        return np.real(total)
    if border == "zeros":  # the same waves over twice the side, the other half of it zeros
        for k in range(1 - side, side):
            rate = 1j * math.pi * k / side
            total += (
                rate
                * np.exp(rate * at)
                * sum(f * np.exp(-rate * i) for i, f in enumerate(line))
                / (2 * side)
            )
        return np.real(total)
    for k in range(1, side):
        rate = math.pi * k / side
        total -= (
            rate
            * math.sin(rate * (at + 0.5))
            * sum(f * math.cos(rate * (i + 0.5)) for i, f in enumerate(line))
            * 2
            / side
        )
    return np.real(total)


def secant_slopes(signal, index, axis, border, _):
    """Slope of the cubic spline through the pixels along an axis, and the central difference."""
    side = signal.shape[2 + axis]
    matrix = np.zeros((side, side))
    for k, (o, weight) in product(range(side), ((-1, 1 / 6), (0, 2 / 3), (1, 1 / 6))):
        if border == "periodic":
            matrix[k, (k + o) % side] += weight
        elif border == "replicate":
            matrix[k, min(max(k + o, 0), side - 1)] += weight
        elif 0 <= k + o < side:
            matrix[k, k + o] += weight
    knots = np.moveaxis(np.linalg.solve(matrix, np.moveaxis(signal, 2 + axis, -2)), -2, 2 + axis)
    both = np.stack([central_slope(f, index, axis, border, _) for f in (knots, signal)])
    if border == "replicate" and index[axis] in (0, side - 1):
        both[0] /= 2  # beyond the end nothing changes
    return both


SLOPES = {
    "secant": secant_slopes,
    "central": central_slope,
    "paper": paper_slope,
    "gaussian": gaussian_slope,
    "spectral": spectral_slope,
}


def reference_fields(signal, scheme, border, sigma):
    """Velocities `[b, g, c, *sides]` of a signal `[b, c, *sides]`: minus a slope times a coordinate, pixel by pixel."""
    sides = signal.shape[2:]
    d, half = len(sides), min(sides) // 2
    columns = d + 1
    out = np.zeros((len(signal), d * columns, *signal.shape[1:]))
    farthest = [*[(side - 1) / min(sides) for side in sides[::-1]], 1.0]
    for index in np.ndindex(*sides):
        if scheme == "paper":
            at = [(k - side // 2) / half for k, side in zip(index, sides, strict=True)]
            unit, counts = 1.0, all(k < side - 1 for k, side in zip(index, sides, strict=True))
        else:
            at = [
                (k - (side - 1) / 2) / (min(sides) / 2)
                for k, side in zip(index, sides, strict=True)
            ]
            unit, counts = min(sides) / 2, True
        along_axes = [
            unit * SLOPES[scheme](signal, list(index), axis, border, sigma) for axis in range(d)
        ]
        if d > 1:  # y runs up, against its axis
            at[-2], along_axes[-2] = -at[-2], -along_axes[-2]
        place, slopes = [*at[::-1], 1.0][:columns], along_axes[::-1]
        for i in range(d):
            for j in range(columns):
                slope = slopes[i]
                if scheme == "secant":  # motion of this pixel by the candidate, in pixels
                    share = (place[j] / farthest[j]) ** 2
                    slope = (1 - share) * slopes[i][0] + share * slopes[i][1]
                out[(slice(None), i * columns + j, slice(None), *index)] = (
                    -slope * place[j] * counts
                )
    return out
