"""Groups by name, the error of finite elements, and the causes that assertions name by evidence."""

import math
import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.discovery.assertions.groups import action_for, as_group
from liegg.testing import assert_equivariant, assert_invariant, equivariance_error
from structures import Graph

X = normal(40, 5, 3)


def distances(x: Tensor) -> Tensor:
    return (x[:, :1] - x[:, 1:]).square().sum(-1)


def centre_of_force(x: Tensor) -> Tensor:
    y = x - x.mean(1, keepdim=True)
    return (y * y.square().sum(-1, keepdim=True)).sum(1)


def smooth_images(count: int, side: int = 16, sigma: float = 1.5) -> Tensor:
    noise = torch.randn(
        count, 1, side, side, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    wave = torch.fft.fftfreq(side, dtype=torch.float64)
    damping = torch.exp(-2 * (torch.pi * sigma) ** 2 * (wave[:, None].square() + wave.square()))
    smooth = torch.fft.ifft2(torch.fft.fft2(noise) * damping).real
    return smooth / smooth.std()


class TestStructuredSamples:
    """The only floating point tensor moves; what is not clear is asked for."""

    @pytest.mark.parametrize(
        "data",
        [
            {"pos": X, "z": torch.ones(40, 5, dtype=torch.int64)},
            [{"pos": X[i, : 3 + i % 3], "z": torch.ones(3 + i % 3).long()} for i in range(40)],
        ],
    )
    def test_the_only_floating_point_tensor_is_moved(self, data):
        def energy(pos, z):
            return torch.cdist(pos, pos).sum((1, 2)) * z.sum(1)

        assert equivariance_error(energy, data, "se(3)") < 1e-12
        assert_invariant(energy, data, "se(3)")
        assert equivariance_error(lambda pos, z: pos.sum((1, 2)), data, "so(3)") > 0.1

    def test_labels_of_graphs_are_no_candidates(self):
        graphs = [Graph(y=torch.ones(1), pos=X[i, : 3 + i % 3]) for i in range(40)]

        def radii(pos, batch):
            first = torch.cat([batch.new_ones(1), batch.diff()])
            return pos.norm(dim=1)[first > 0]

        assert equivariance_error(radii, graphs, "so(3)") < 1e-12
        assert assert_invariant(radii, graphs, "so(3)").nullity == 3
        assert liegg.discover(radii, graphs, liegg.Linear(3)).name == "so(3)"
        assert equivariance_error(lambda pos, q: pos.norm(dim=2) + q,
                                  {"q": X[:, :, 0], "pos": X}, "so(3)") < 1e-12  # fmt: skip

    def test_vectors_in_a_dictionary(self):
        error = equivariance_error(lambda x: x.norm(dim=1), {"x": X[:, 0]}, "so(3)")
        assert error < 1e-12

    def test_what_is_not_clear_is_asked_for(self):
        with pytest.raises(ArgumentError, match=r"2 floating point tensors.*'pos'"):
            equivariance_error(distances, {"pos": X, "q": X}, "so(3)")
        clouds = [X[i, : 3 + i % 3] for i in range(40)]
        with pytest.raises(ArgumentError, match=r"Affine\(3, copies=None\) for clouds"):
            equivariance_error(distances, clouds, "se(3)")
        action = liegg.Affine(3, copies=None)
        assert equivariance_error(lambda x: torch.cdist(x, x).sum((1, 2)), clouds, action=action,
                                  group="se(3)") < 1e-12  # fmt: skip
        batches = [X[:16, 0], X[16:32, 0], X[32:, 0]]
        assert equivariance_error(lambda x: x.norm(dim=1), batches, "so(3)") < 1e-12


class TestGroups:
    def test_names(self):
        for name, shape, affine in [
            ("so(3)", (3, 3, 3), False),
            ("SO(1, 3)", (6, 4, 4), False),
            ("se(3)", (6, 4, 4), True),
            ("translation(2)", (2, 3, 3), True),
            ("scaling(4)", (1, 4, 4), False),
            ("su(2)", (3, 4, 4), False),
            ("e(2)", (3, 3, 3), True),
        ]:
            group = as_group(name)
            assert (tuple(group.generators.shape), group.affine) == (shape, affine)

    def test_other_names_are_refused(self):
        for name in ["so", "so()", "so(x)", "spin(3)", "so(3", "so(1)", "sp(3)", ""]:
            with pytest.raises(ArgumentError, match="group="):
                as_group(name)

    def test_the_action_is_inferred(self):
        for name, shape, expected in [
            ("so(3)", (3,), "Linear(n=3, copies=1, layout='copies_first')"),
            ("so(3)", (5, 3), "Linear(n=3, copies=5, layout='copies_first')"),
            ("so(3)", (3, 5), "Linear(n=3, copies=5, layout='vector_first')"),
            ("se(3)", (5, 3), "Affine(n=3, copies=5, layout='copies_first')"),
            ("so(2)", (1, 8, 8), "Image(group='linear', derivative='secant', border='replicate')"),
            ("se(2)", (8, 8), "Image(group='affine', derivative='secant', border='replicate')"),
        ]:
            assert repr(action_for(as_group(name), shape)) == expected

    def test_what_is_not_clear_is_asked_for(self):
        for shape in [(3, 3), (7,), (2, 5, 3), (4, 5)]:
            with pytest.raises(ArgumentError, match=r"Pass action=liegg\.Linear\(3"):
                action_for(as_group("so(3)"), shape)


class TestError:
    def test_exact_models(self):
        assert equivariance_error(distances, X, "se(3)") < 1e-12
        assert equivariance_error(distances, X, "e(3)") < 1e-12
        output = liegg.Linear(3)
        assert equivariance_error(centre_of_force, X, "se(3)", output_action=output) < 1e-12
        assert equivariance_error(lambda x: 2 * x, X, "so(3)", output_action="same") < 1e-12

    def test_it_is_the_relative_change(self):
        """Rotating x by 180° at most moves (x₁) by up to its own spread times two; a reference by hand."""
        x = normal(500, 2)
        error = equivariance_error(lambda x: x[:, :1], x, "so(2)", elements=1, seed=3)
        turn = torch.rand(1, 1, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        angle = float((2 * turn - 1) * torch.pi)
        c, s = math.cos(angle), math.sin(angle)
        moved = c * x[:, 0] - s * x[:, 1]
        expected = float((moved - x[:, 0]).square().mean().sqrt() / x[:, 0].std(correction=0))
        assert error == pytest.approx(expected, rel=1e-9)

    def test_generators_and_fields(self):
        model = lambda x: {"energy": distances(x).sum(1), "forces": x}  # noqa: E731
        action = liegg.Linear(3, copies=5)
        assert equivariance_error(model, X, liegg.so(3), action=action, output="energy") < 1e-12
        assert equivariance_error(model, X, "so(3)", output="forces") > 0.1

    def test_structured_samples(self):
        data = {"pos": X, "z": torch.ones(40, 5, dtype=torch.int64)}
        model = lambda batch: distances(batch["pos"]) * batch["z"][:, 1:]  # noqa: E731
        error = equivariance_error(model, data, "se(3)", action={"pos": liegg.Affine(3, copies=5)})
        assert error < 1e-12
        assert equivariance_error(model, data, "se(3)") == error

    def test_a_constant_output_is_measured_by_its_size(self):
        assert equivariance_error(lambda x: x[:, :1, 0] * 0 + 3, X, "so(3)") == 0

    @pytest.mark.parametrize(
        ("options", "text"), [({"elements": 0}, "elements=0"), ({"group": "o(2)"}, "reflections")]
    )
    def test_what_makes_no_sense(self, options, text):
        x = smooth_images(4) if "group" in options else X
        with pytest.raises(ArgumentError, match=text):
            equivariance_error(lambda x: x.flatten(1)[:, :2] ** 2, x, **options)


class TestCauses:
    """Each cause is built into a model, and the message names it."""

    def test_passes_by_name(self):
        assert assert_invariant(distances, X, "se(3)").nullity == 6
        assert_invariant(distances, X, "e(3)")
        assert_equivariant(centre_of_force, X, "se(3)", output_action=liegg.Linear(3))
        assert_equivariant(lambda x: x.mean(1), X, "o(3)")

    def test_randomness(self):
        with pytest.raises(AssertionError, match="Likely cause: randomness"):
            assert_invariant(lambda x: distances(x) + torch.rand(len(x), 4), X, "so(3)")

    def test_batch_statistics(self):
        with pytest.raises(AssertionError, match="Likely cause: batch statistics"):
            assert_invariant(lambda x: distances(x) - distances(x).mean(0), X, "so(3)")

    def test_rounding(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(()))

            def forward(self, x):
                return distances(x * self.scale)

        with pytest.raises(
            AssertionError, match=r"Likely cause: rounding: .* in float32 .* in float64"
        ):
            assert_invariant(Net(), X.float(), "so(3)", tolerance=1e-12)

    def test_interpolation(self):
        """Quarter turns of a four-fold average are exact; other angles resample a rough image."""

        def model(x):
            parts = [_turned(lambda z: (z - z.roll(1, -1)) ** 2, x, k) for k in range(4)]
            return torch.stack(parts).sum(0).mean((1, 2, 3))[:, None]

        def _turned(f, x, k):
            return f(x.rot90(k, (-2, -1))).rot90(-k, (-2, -1))

        rough = smooth_images(12, sigma=0.3)
        with pytest.raises(AssertionError, match="interpolation: a rotation by 90°"):
            assert_invariant(model, rough, "so(2)")

    def test_stride(self):
        pool = nn.AvgPool2d(4)

        def model(x):
            return pool(torch.cat([x, x[..., :0]], -1)).square().sum((1, 2, 3))[:, None]

        with pytest.raises(AssertionError, match="stride: shifts by 4 pixels"):
            assert_invariant(model, smooth_images(12), "translation(2)")

    def test_padding(self):
        kernel = torch.tensor([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]).double() / 16

        def model(x):
            y = nn.functional.conv2d(x + 1.0, kernel[None, None], padding=1)
            return (y - 1.0).square().sum((1, 2, 3))[:, None]

        with pytest.raises(AssertionError, match="Likely cause: padding and the border"):
            assert_invariant(model, smooth_images(12), "translation(2)")

    @pytest.mark.parametrize("pooled", [True, False])
    def test_padding_behind_a_bias(self, pooled):
        """The second layer pads a background that is not zero, so that images that fade out do not help."""
        torch.manual_seed(0)
        layers = [nn.Conv2d(1, 4, 3, padding=1), nn.Tanh(), nn.Conv2d(4, 2, 3, padding=1)]
        pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten()] if pooled else []
        model, images = nn.Sequential(*layers, *pool).double(), smooth_images(8)
        plane = liegg.Image("affine")
        check: Any = assert_invariant if pooled else assert_equivariant
        moves = {"action": plane} if pooled else {"action": plane, "output_action": plane}
        with pytest.raises(AssertionError, match=r"Likely cause: padding: .* circular"):
            check(model, images, "translation(2)", **moves)

    def test_stride_behind_padding(self):
        torch.manual_seed(0)
        layers = [nn.Conv2d(1, 4, 3, padding=1, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
        model = nn.Sequential(*layers, nn.Flatten()).double()
        with pytest.raises(AssertionError, match=r"stride: shifts by 2 pixels .* circular"):
            assert_invariant(
                model, smooth_images(8), "translation(2)", action=liegg.Image("affine")
            )

    @pytest.mark.parametrize("narrow", [True, False])
    def test_rounding_that_cannot_be_repeated(self, narrow):
        """Of functions, and of models that round whatever they are given."""
        x = X.float() if narrow else X
        model = lambda x: 1e6 * distances(x.float()).sum(1)  # noqa: E731
        with pytest.raises(AssertionError, match=r"Likely cause: rounding: .* float32 rounds"):
            assert_invariant(model, x, "so(3)", tolerance=1e-10)

    def test_a_ramp_is_not_called_padding(self):
        ramp = torch.linspace(-1, 1, 16, dtype=torch.float64)
        with pytest.raises(AssertionError, match="None of the usual causes"):
            assert_invariant(
                lambda x: (x * ramp).mean((1, 2, 3))[:, None], smooth_images(12), "translation(2)"
            )

    def test_a_transposed_matrix(self):
        turn = lambda x: x.mean(1) * torch.tensor([1.0, -1.0])  # noqa: E731
        with pytest.raises(AssertionError, match="a transposed matrix"):
            assert_equivariant(turn, normal(40, 5, 2), "so(2)", output_action=liegg.Linear(2))

    def test_an_output_that_does_not_move(self):
        with pytest.raises(AssertionError, match="does not move at all"):
            assert_equivariant(
                lambda x: distances(x)[:, :3], X, "so(3)", output_action=liegg.Linear(3)
            )

    def test_another_order_of_harmonics(self):
        def quadrupole(x):
            a, b, c = x.mean(1).unbind(1)
            root = 3**0.5
            return torch.stack([root * a * b, root * b * c, c**2 - (a**2 + b**2) / 2,
                                root * a * c, root / 2 * (a**2 - b**2)], 1)  # fmt: skip

        assert_equivariant(
            quadrupole, X, "so(3)", output_action=liegg.actions.Irrep(2, order="standard")
        )
        with pytest.raises(AssertionError, match=r"another order .*order='standard'"):
            assert_equivariant(quadrupole, X, "so(3)", output_action=liegg.actions.Irrep(2))

    def test_a_cell_that_is_not_rotated(self):
        cell = torch.eye(3, dtype=torch.float64).expand(40, 3, 3) + 0.1 * normal(40, 3, 3)
        data = {"pos": X, "cell": cell}

        def energy(batch):
            return (
                torch.einsum("bki,bij->bkj", batch["pos"], batch["cell"]).sin().sum((1, 2))[:, None]
            )

        advice = r"a cell that is not rotated: 'cell'.*copies=None\) and action={'pos': one, 'cell': one}"
        with pytest.raises(AssertionError, match=advice):
            assert_invariant(energy, data, "so(3)", action={"pos": liegg.Linear(3, copies=5)})
        one = liegg.Linear(3, copies=None)  # as advised
        assert_invariant(
            lambda batch: torch.linalg.solve(batch["cell"], batch["pos"], left=False).sum(2),
            data,
            "so(3)",
            action={"pos": one, "cell": one},
        )
        apart = {"pos": liegg.Linear(3, copies=None), "cell": liegg.Linear(3, copies=None)}
        with pytest.raises(ArgumentError, match="one action object"):
            assert_invariant(energy, data, "so(3)", action=apart)

    @pytest.mark.parametrize("shape", [(3, 3), (1, 3, 3)])
    @pytest.mark.parametrize("kind", ["graphs", "batch", "one vector each"])
    def test_the_advice_for_a_cell_runs(self, shape, kind):
        count = 30
        cells = 5 * torch.eye(3, dtype=torch.float64) + normal(count, 3, 3)
        cells = cells.reshape(count, *shape)
        data: Any = {"pos": X[:count], "cell": cells}
        if kind == "one vector each":
            data["pos"] = X[:count, 0]
        if kind == "graphs":
            data = [Graph(pos=X[i, : 3 + i % 3], cell=cells[i]) for i in range(count)]

        def fractions(batch):
            pos, cell = batch["pos"], batch["cell"].reshape(-1, 3, 3)
            return torch.linalg.solve(cell, pos.reshape(len(cell), -1, 3), left=False).sum(2)

        def energy(batch):
            if kind != "graphs":
                return fractions(batch).sin().sum(1)
            numbers = torch.bincount(batch.batch).tolist()
            cell = batch.cell.reshape(-1, 3, 3)
            parts = zip(batch.pos.split(numbers), cell, strict=True)
            some = [fractions({"pos": pos[None], "cell": one[None]}) for pos, one in parts]
            return torch.stack([one.sin().sum() for one in some])

        with pytest.raises(AssertionError, match="a cell that is not rotated: 'cell'") as failed:
            assert_invariant(energy, data, "so(3)", action={"pos": liegg.Linear(3)})
        one, moves = re.findall(r"one = (.*?\)) and action=(\{.*?\})", str(failed.value))[0]
        one = eval(one, {"liegg": liegg})
        assert_invariant(energy, data, "so(3)", action=eval(moves, {"one": one}))

    def test_a_cell_that_cannot_be_rotated(self):
        data = {"pos": X, "box": 5 + normal(40, 3).abs()}
        with pytest.raises(AssertionError, match=r"cannot be rotated.*pass the cell as the matrix"):
            assert_invariant(
                lambda pos, box: (pos / box[:, None]).sin().sum((1, 2)),
                data,
                "so(3)",
                action={"pos": liegg.Linear(3)},
            )

    def test_absolute_positions(self):
        with pytest.raises(AssertionError, match="absolute positions: rotations alone"):
            assert_invariant(lambda x: x.square().sum(-1), X, "se(3)")

    def test_parity(self):
        def volume(x):
            return torch.linalg.det(x[:, :3])[:, None]

        assert_invariant(volume, X, "so(3)")
        with pytest.raises(AssertionError, match=r"under a reflection of o\(3\).*opposite parity"):
            assert_invariant(volume, X, "o(3)")
        with pytest.raises(AssertionError, match="not symmetric under reflections"):
            assert_invariant(lambda x: volume(x) + distances(x)[:, :1], X, "o(3)")

    def test_nothing_is_made_up(self):
        with pytest.raises(AssertionError, match="None of the usual causes was recognised"):
            assert_invariant(lambda x: x[:, 0, :1].sin(), X, "so(3)")
