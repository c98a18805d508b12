# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false, reportAttributeAccessIssue=false
"""The laws of an action: `assert_is_action` passes where they hold, and names the one that is broken."""

import pytest
import torch

from cases import normal
from liegg.actions import Action, Displacement, Linear
from liegg.testing import assert_is_action

X = normal(60, 3)


class Shifted(Linear):
    """Moves everything at t = 0."""

    def act(self, h, x):
        return super().act(h, x) + 1


class FirstOrder(Linear):
    """x + hx in place of exp(h)x: the right derivative, but no group."""

    def act(self, h, x):
        return x + self.field(h, x)


class Reversed(Linear):
    """A field of the wrong sign."""

    def field(self, h, x):
        return -super().field(h, x)


class Permuted(Linear):
    """Fields in the wrong order."""

    def fields(self, x):
        return super().fields(x).flip(1)


class Doubled(Linear):
    """A contraction twice too large."""

    def contract(self, gradients, x, precomputed=None):
        return 2 * super().contract(gradients, x)


class Unaveraged(Linear):
    """A displacement that is a sum in place of a mean."""

    def displacement(self, moment, samples):
        return Displacement(moment, repeat=self.n)


class Transposed(Linear):
    """Matrices that do not come back as the coefficients they were made of."""

    def coefficients(self, matrices):
        return super().coefficients(matrices.mT)


class Undefined(Linear):
    """NaN passes for nothing."""

    def act(self, h, x):
        return super().act(h, x) * torch.nan


class TestIsAction:
    def test_passes(self):
        assert_is_action(Linear(3), X[:5], tolerance=1e-13)

    def test_fails_by_the_law_that_is_broken(self):
        for broken, law in [
            (Shifted, "identity at t = 0"),
            (Undefined, "identity at t = 0"),
            (FirstOrder, "one-parameter group"),
            (Reversed, "derivative equals field"),
            (Permuted, "fields are linear in the coefficients"),
            (Doubled, "contraction"),
            (Unaveraged, "displacement"),
            (Transposed, "coefficients and matrices"),
        ]:
            with pytest.raises(
                AssertionError, match=rf"^{law}: relative error [0-9.naife+-]+, above 1e-06"
            ):
                assert_is_action(broken(3), X[:5])

    def test_says_what_is_missing(self, monkeypatch):
        monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)  # as users run it

        class Still(Action):
            size = 2

        class Short(Still):
            words = ("one",)

            def act(self, h, x):
                return x[:1]

        def changed(**members):
            return type("Changed", (Short,), {"words": ("one", "two")} | members)()

        for action, text in [
            (Linear, "Linear is a class; pass an instance"),
            ("Linear(3)", "str is not an action: write class"),
            (Still(), r"define Still.act\(h, x\), Still.field\(h, x\) or Still.fields\(x\)"),
            (Short(), "words has 1 entries; expected 2"),
            (
                changed(),
                r"act\(h, x\) returned shape \(1, 3\); expected a tensor of shape \(5, 3\)",
            ),
            (changed(act=3), "Changed.act is a int; expected a method"),
            (changed(act=lambda self, x: x), r"act\(h, x\) raised TypeError"),
            (changed(size=0), "size is 0; expected the number of candidate generators"),
            (changed(settings=lambda self: {"x": X}), "settings.* must hold JSON values"),
        ]:
            with pytest.raises(AssertionError, match=text):
                assert_is_action(action, X[:5])

    def test_tolerance_decides(self):
        class Rounded(Linear):
            def act(self, h, x):
                return super().act(h, x) * (1 + 1e-8)

        assert_is_action(Rounded(3), X[:5], tolerance=1e-7)
        with pytest.raises(AssertionError, match="identity"):
            assert_is_action(Rounded(3), X[:5], tolerance=1e-9)
