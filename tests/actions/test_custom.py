"""An action of one's own, without matrices, goes through every verb: quadratic fields of the plane."""

import torch

import liegg
from liegg.actions import Action


class Quadratic(Action):
    """The twelve vector fields of the plane of degree at most two."""

    size = 12
    words = tuple(f"{m}∂{c}".lstrip("1") for c in "xy" for m in ("1", "x", "y", "x²", "xy", "y²"))

    def check(self, shape):
        if shape != (2,):
            raise liegg.LieggError(f"a sample has shape {shape}; expected (2,).")

    def field(self, h, x):
        a, b = x.unbind(1)
        monomials = torch.stack([torch.ones_like(a), a, b, a * a, a * b, b * b], dim=1)
        return monomials @ h.to(x).reshape(2, 6).mT

    def act(self, h, x, steps=64):
        for _ in range(steps):
            k1 = self.field(h, x) / steps
            k2 = self.field(h, x + k1 / 2) / steps
            k3 = self.field(h, x + k2 / 2) / steps
            k4 = self.field(h, x + k3) / steps
            x = x + (k1 + 2 * k2 + 2 * k3 + k4) / 6
        return x


def parabola(x):
    """Invariant under ∂x + 2x ∂y alone, a field that no matrix of the plane's linear maps makes."""
    return x[:, 1] - x[:, 0].square()
