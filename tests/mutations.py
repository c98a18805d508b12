"""Break each promise of the library once, and see a test fail: `make test-mutations`.

A mutation replaces one piece of text in one source file. The named tests must then fail. Each mutation
is applied in a temporary copy of the tree, so the sources are never touched. The outcomes:

- caught: a test failed. The first one is recorded.
- SURVIVED: all named tests passed, so nothing holds the promise.
- text not found: the source reads differently now; adapt the entry.
- broken: the tests could not be run (an import failed, or there are no such tests).

`python tests/mutations.py --only bracket` runs those whose file or promise contains the word.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
import scipy.linalg  # noqa: F401 - imported once, for all forks
import torch

torch.set_num_threads(1)

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "benchmarks", "conftest.py", "pyproject.toml")
COMMAND = "make test-mutations"
TIMEOUT = 600
"""Seconds that the tests of one mutation may take."""


class Mutation(NamedTuple):
    """One broken promise.

    Attributes:
        promise: what the library promises, in words.
        file: source file below src/liegg.
        old: text that is replaced; its first occurrence counts.
        new: what it is replaced by.
        tests: files, folders or tests, at least one of which must fail.
    """

    promise: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def of(file: str, *tests: str) -> Any:
    """Mutations of one file that the same tests must catch."""

    def make(*rows: tuple[str, str, str]) -> list[Mutation]:
        return [Mutation(promise, file, old, new, tests) for promise, old, new in rows]

    return make


MUTATIONS: tuple[Mutation, ...] = (
    *of("algebra/bracket.py", "tests/algebra/test_bracket.py")(
        ("The bracket is the commutator.", "return a @ b - b @ a", "return a @ b + b @ a"),
        ("Dependent generators are refused.", "if rank < d:", "if rank < 0:"),
        ("The Jacobi identity sums three terms.", " + double.permute(2, 0, 1, 3)", ""),
        ("The Killing form is a trace of a product.", '"ikl,jlk->ij"', '"ikl,jkl->ij"'),
        (
            "The adjoint acts on columns of coefficients.",
            "return constants.to(torch.float64).mT",
            "return constants.to(torch.float64)",
        ),
        (
            "Structure constants are over the generators as given.",
            "((pairs @ right.mT) / values) @ left.mT",
            "(pairs @ right.mT) @ left.mT",
        ),
        (
            "Brackets that are rounding give zero constants.",
            "<= COMMUTING_RESIDUAL * sizes",
            "< 0 * sizes",
        ),
    ),
    *of("algebra/subspace.py", "tests/algebra/test_subspace.py")(
        (
            "Sines and cosines of principal angles are paired.",
            "torch.linalg.svdvals(outside).flip(0)",
            "torch.linalg.svdvals(outside)",
        ),
        ("A missing angle counts as 90 degrees.", "* (math.pi / 2) ** 2", "* 0.0"),
        (
            "Infinite generators are refused.",
            "bad = (~generators.isfinite())",
            "bad = generators.isnan()",
        ),
        (
            "The distance to a span is that of what lies outside.",
            "(vectors - vectors @ basis.mT @ basis).norm",
            "(vectors @ basis.mT @ basis).norm",
        ),
        ("Complex generators are refused.", "if generators.is_complex():", "if False:"),
        (
            "The smaller span comes first when angles are taken.",
            "if v.shape[0] > w.shape[0]:",
            "if v.shape[0] < w.shape[0]:",
        ),
    ),
    *of("algebra/catalog.py", "tests/algebra/test_catalog.py")(
        (
            "so(p, q) preserves its metric.",
            "(sign[i] * sign[j])[:, None, None] * _units(n, j, i)",
            "_units(n, j, i)",
        ),
        (
            "sp(n) preserves the area form.",
            "_units(n, i, j) - _units(n, m + j, m + i)",
            "_units(n, i, j) + _units(n, m + j, m + i)",
        ),
        (
            "A + iB is the matrix [[A, -B], [B, A]].",
            "torch.cat([real, -imaginary], -1)",
            "torch.cat([real, imaginary], -1)",
        ),
        ("sp(n) needs an even dimension.", "if n < 2 or n % 2:", "if n < 2:"),
        (
            "Translations are the last column.",
            "_units(n + 1, torch.arange(n), n)",
            "_units(n + 1, torch.full((n,), n), torch.arange(n))",
        ),
        (
            "Positions and momenta of the Heisenberg algebra do not commute.",
            "_units(n, inner, n - 1), corner",
            "_units(n, 0 * inner, n - 1), corner",
        ),
    ),
    *of(
        "spectrum/spectrum.py",
        "tests/spectrum/test_spectrum.py",
        "tests/discovery/test_discover.py",
    )(
        ("Variances are per sample.", "values.square() / samples", "values.square()"),
        ("Directions have deterministic signs.", "fix_signs(basis.contiguous())", "-basis"),
    ),
    *of("spectrum/spectrum.py", "tests/spectrum/test_spectrum.py")(
        ("The symmetry variance is the smallest one.", "spectrum.values[0]", "spectrum.values[-1]")
    ),
    *of("spectrum/defects.py", "tests/spectrum/test_defects.py")(
        (
            "A defect is a squared length per sample.",
            "lengths = values.square() / samples",
            "lengths = values / samples",
        ),
        (
            "The unit of defects is the mean sensitivity.",
            "sensitivity = float(lengths.mean())",
            "sensitivity = float(lengths.max())",
        ),
        (
            "Motion at the level of rounding is no motion.",
            "displacement.block.diagonal() <= displacement.noise",
            "displacement.block.diagonal() < 0",
        ),
        (
            "The pair is whitened by the root of the displacement.",
            "squares[moving].sqrt()",
            "squares[moving]",
        ),
        (
            "The defect of a direction that does not move the data is NaN.",
            "else 0.0, torch.nan",
            "else 0.0, 0.0",
        ),
        (
            "Units of features do not decide what moves.",
            "scale = torch.where(lengths > 0, lengths, 1.0)",
            "scale = torch.ones_like(lengths)",
        ),
    ),
    *of("spectrum/equivariance.py", "tests/spectrum/test_equivariance.py")(
        (
            "The output generator has the sign of its input generator.",
            "-v.mT @ (inside",
            "v.mT @ (inside",
        ),
        (
            "Output generators are eliminated by projection.",
            "Elimination(right - u @ inside",
            "Elimination(right",
        ),
        ("Dependent output columns are cut.", "rank(values, RANK_TOLERANCE) if", "len(values) if"),
    ),
    *of("spectrum/smallest_singular.py", "tests/spectrum/test_smallest_singular.py")(
        (
            "The solver starts from its seed.",
            "manual_seed(seed)",
            "manual_seed(int(torch.randint(2**40, ()).item()))",
        )
    ),
    *of("polarization/r_factor.py", "tests/polarization/test_r_factor.py")(
        (
            "New rows are added to the old ones.",
            "rows if state.rows == 0 else torch.cat([state.r, rows])",
            "rows",
        ),
        (
            "The diagonal of R is not negative.",
            "torch.where(r.diagonal() < 0, -1.0, 1.0)",
            "torch.where(r.diagonal() < 0, 1.0, 1.0)",
        ),
        ("Merged factors count the rows of both.", "one.rows + other.rows)", "one.rows)"),
        (
            "Rows are folded in float64.",
            "rows = rows.to(torch.float64)",
            "rows = rows.to(torch.float32).to(torch.float64)",
        ),
    ),
    *of("polarization/gram.py", "tests/polarization/test_gram.py")(
        (
            "The ridge is at the level of rounding.",
            "CHOLESKY_RIDGES = (1e-15,",
            "CHOLESKY_RIDGES = (1e-3,",
        ),
        ("Models in float64 are not squared.", "eps ** 2 > 16 *", "eps ** 2 > 0 *"),
        ("Products are added to both halves.", "both[:, m, j] = pairs", "both[:, j, m] = pairs"),
        (
            "The factor has the lengths of the columns.",
            "return RFactor(r * lengths, state.rows)",
            "return RFactor(r, state.rows)",
        ),
    ),
    *of(
        "polarization/rows.py", "tests/polarization/test_rows.py", "tests/polarization/test_plan.py"
    )(
        (
            "Output columns are negative.",
            "torch.cat([-eta.permute(1, 2, 0), rows], dim=2)",
            "torch.cat([eta.permute(1, 2, 0), rows], dim=2)",
        ),
        (
            "Combinations of a sample depend on its number alone.",
            "model, action, x, plan, first=first, halved",
            "model, action, x, plan, first=0, halved",
        ),
        (
            "A route that disagrees with reverse mode is not taken.",
            "if distance <= 10 * eps**0.5 * size",
            "if True or distance <= 10 * eps**0.5 * size",
        ),
        (
            "Tensors of the caller get no gradient.",
            "leaf = x.detach().clone().requires_grad_()",
            "leaf = x.requires_grad_()",
        ),
    ),
    *of("polarization/output_sketch.py", "tests/polarization/test_output_sketch.py")(
        ("k combinations keep the squared length.", "size=count**-0.5", "size=1.0"),
        (
            "Each sample has signs of its own.",
            "(sample * count + combination) * width + word",
            "(0 * sample + combination) * width + word",
        ),
    ),
    *of("polarization/sample_blocks.py", "tests/polarization/test_block_assigner.py")(
        (
            "Samples of one group are in one block.",
            "labels.unique(return_inverse=True)[1] % self.count",
            "torch.arange(len(labels)) % self.count",
        ),
        ("More labels than samples are an error.", "samples < len(self.groups)", "samples < 0"),
    ),
    *of("actions/linear.py", "tests/actions/test_linear.py")(
        ("A row is slope times vector, in this order.", '"bkci,bcj->bkij"', '"bkci,bcj->bkji"'),
        (
            "The displacement is a mean.",
            "Displacement(moment / samples, repeat",
            "Displacement(moment, repeat",
        ),
        (
            "Rows of several copies are no outer products.",
            "if self.copies != 1:\n            return None",
            "if self.copies == 99:\n            return None",
        ),
        ("A matrix acts from the left.", "@ linear.mT", "@ linear"),
        (
            "A finite transformation is the exponential.",
            "self.apply_matrix(torch.linalg.matrix_exp(matrix), x)",
            "self.apply_matrix(matrix, x)",
        ),
        ("Translations move the samples.", "moved = moved + shift[:, 0]", "moved = moved"),
        ("A last row other than zero is refused.", "> 1e-12 * size", "> 1e12 * size"),
        (
            "Translations count in rows and moment.",
            "pad(vectors, (0, 1), value=1.0)",
            "pad(vectors, (0, 1), value=0.0)",
        ),
    ),
    *of("actions/product.py", "tests/actions/test_product.py")(
        (
            "The moment of a product is symmetric.",
            "return upper + upper.triu(1).mT",
            "return upper",
        ),
        ("Entries outside the blocks are refused.", "if bool((rest != 0).any()):", "if False:"),
    ),
    *of(
        "decision/bootstrap.py",
        "tests/decision/test_bootstrap.py",
        "tests/decision/test_intervals.py",
    )(
        (
            "Draws follow their seed.",
            "generator=torch.Generator().manual_seed(seed)",
            "generator=torch.Generator().manual_seed(7)",
        ),
        (
            "The interval holds the bias of selection.",
            "(spread.square() + centre.square()).sqrt()",
            "spread",
        ),
        (
            "Each block is judged by the directions of the others.",
            "1.0 - torch.eye(len(moments.samples), dtype=torch.float64)",
            "torch.ones(len(moments.samples), len(moments.samples), dtype=torch.float64)",
        ),
        (
            "A logarithm of a squared value is twice a logarithm.",
            "return -squares.clamp_min",
            "return -0.5 * squares.clamp_min",
        ),
        (
            "The angle of a span is that of what lies outside.",
            "basis - own @ (own.mT @ basis)",
            "own @ (own.mT @ basis)",
        ),
    ),
    *of("decision/controls.py", "tests/decision/test_controls.py")(
        (
            "Random directions have unit length.",
            "return squares.div_(squares.sum(1, keepdim=True))",
            "return squares",
        ),
        (
            "A learned span is below the best of the controls, too.",
            "shares.append(int((~(below[1:] > below[0] + EQUAL)).sum()))",
            "pass",
        ),
        (
            "A learned span is below every draw along the same directions.",
            "shares = [int((~(same > means[0][0])).sum())]",
            "shares = [0]",
        ),
        (
            "Defects at the floor are alike.",
            "least, draws = max(floor, torch.finfo(torch.float64).tiny), len(own)",
            "least, draws = torch.finfo(torch.float64).tiny, len(own)",
        ),
    ),
    *of("decision/decide.py", "tests/decision/test_decide.py")(
        (
            "Too few samples leave the count undecided.",
            "short = at_floor and total - at_floor + facts.eliminated >= enough",
            "short = False",
        ),
        (
            "Few samples are warned of.",
            "if samples < 2 * total else []",
            "if samples < 0 * total else []",
        ),
        (
            "Nothing is counted of undecided directions.",
            "ends, grades = (0,) * len(ends), ",
            "grades = ",
        ),
    ),
    *of("decision/noise_floor.py", "tests/decision/test_noise_floor.py")(
        (
            "The floor is a square.",
            "model = (thresholds.floor_factor * unit) ** 2",
            "model = (thresholds.floor_factor * unit)",
        )
    ),
    *of("decision/rank.py", "tests/decision/test_rank.py", "tests/decision/test_grades.py")(
        (
            "A gap is needed after an approximate group.",
            "(following >= minimum_gap * lifted) & (below < above)",
            "below < above",
        ),
        ("Intervals of counted and other directions are disjoint.", "& (below < above)", ""),
        (
            "A strong direction needs no gap.",
            "found = [last(exact), last(surely)]",
            "found = [last(exact), last(exact)]",
        ),
        (
            "A symmetry needs a small effect.",
            "(response * threshold / effect.square()).clamp_min(1.0)",
            "torch.ones_like(threshold)",
        ),
    ),
    *of("decision/grades.py", "tests/decision/test_grades.py")(
        (
            "A weak direction is below random ones.",
            "<= weak) & (case.high < case.control)",
            "<= weak)",
        )
    ),
    *of("results/record.py", "tests/results/test_storage.py")(
        ("Intervals are stored.", '"intervals": sym.intervals,', '"intervals": 0 * sym.intervals,'),
        ("An action of another size is refused.", "if given.size != size:", "if False:"),
    ),
    *of("_utils/random.py", "tests/test_purity.py", "tests/_utils")(
        ("NumPy's generator is put back.", "np.random.set_state(numpy)", "pass"),
        ("Python's generator is put back.", "random.setstate(python)", "pass"),
    ),
    *of("_utils/precision.py", "tests/_utils/test_precision.py")(
        ("TensorFloat-32 is switched back.", "setting.fp32_precision = precision", "pass")
    ),
    *of("_utils/atomic_write.py", "tests/_utils", "tests/studies/test_provenance.py")(
        ("Half a file is never left behind.", "temporary.unlink(missing_ok=True)", "pass")
    ),
    *of("_utils/file_set.py", "tests/_utils/test_file_set.py")(
        (
            "A file is read only if it has the checksum of the manifest.",
            "if _digest(content) == manifest.files[name]:",
            "if True:",
        ),
        (
            "A file that the manifest does not list is not overwritten.",
            "if name not in listed.files and name not in listed.stale:",
            "if False:",
        ),
        (
            "A stale file that was changed since is not removed.",
            "if _digest(read_regular(folder / name)) == digest:",
            "if True:",
        ),
        ("A manifest cannot name files outside its folder.", "if not is_plain(name)]", "if False]"),
        (
            "After a fault the manifest lists what was there before.",
            "if before.files:\n            _write_manifest(folder, before)",
            "if False:\n            _write_manifest(folder, before)",
        ),
    ),
    *of("_utils/conversion.py", "tests/_utils/test_arguments.py")(
        (
            "True is not a whole number.",
            'if isinstance(value, bool) or getattr(value, "dtype", None) in (bool, torch.bool):',
            "if False:",
        ),
        ("True is not a number.", " and not isinstance(value, bool | np.bool_)", ""),
        ("NaN is not a number.", "if not math.isnan(number):", "if True:"),
        ("A path has no control characters.", "if text and text.isprintable():", "if text:"),
    ),
    *of("_utils/arguments.py", "tests/_utils/test_arguments.py")(
        (
            "An unknown keyword is refused.",
            "if name not in self.names and not self._takes_any_keyword:",
            "if False:",
        )
    ),
    *of("_utils/text.py", "tests/_utils/test_text.py")(
        (
            "Escapes do not reach the terminal.",
            'one if one.isprintable() or one in "\\n\\t" else',
            "one if True else",
        )
    ),
    *of("_utils/interrupts.py", "tests/_utils/test_interrupts.py")(
        ("SIGTERM is an interrupt.", "signal.signal(signal.SIGTERM, _terminate)", "pass"),
        (
            "After the block SIGTERM means what it did.",
            "signal.signal(signal.SIGTERM, signal.SIG_DFL)",
            "pass",
        ),
        (
            "A handler of the caller is left alone.",
            "if not _in_main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:",
            "if not _in_main_thread():",
        ),
    ),
    *of("discovery/run.py", "tests/discovery/test_run.py")(
        (
            "A timeout of no time is refused.",
            '("timeout", 1e-9, TIMEOUT_SECONDS)',
            '("timeout", -1e9, TIMEOUT_SECONDS)',
        ),
        (
            "One re-initialised model is too few.",
            "self.control_draws < 2:",
            "self.control_draws < 1:",
        ),
    ),
    *of("_utils/device.py", "tests/_utils/test_device.py")(
        ("Trouble is raised once.", "if not bool(passed):", "if False:"),
        ("Half of the samples are tried next.", ": (len(x) + 1) // 2", ": len(x) - 1"),
    ),
    *of("_utils/linalg.py", "tests/_utils/test_linalg.py")(
        (
            "The first of equal entries decides the sign.",
            "* (1 - 1e-8)).to(torch.int8).argmax(1, keepdim=True)",
            "* (1 - 1e-8)).to(torch.int8).flip(1).argmax(1, keepdim=True)",
        ),
        (
            "A zero stays a zero above the size of a full SVD.",
            "if small and float(values[-1]) > floor:",
            "if False:",
        ),
    ),
    *of("inputs/reinitialise.py", "tests/inputs/test_reinitialise.py")(
        (
            "The caller's model keeps its weights.",
            "module = _copy(original(model))",
            "module = original(model)",
        ),
        ("Weights follow their seed.", "with seeded(seed):", "with seeded(0):"),
    ),
    *of("discovery/exact_motions.py", "tests/discovery/test_exact_motions.py")(
        (
            "Finite motions refute what a derivative hides.",
            "if largest <= max(REFUTING_CHANGE, rounding_change(function, question)):",
            "if True:",
        ),
        (
            "What the derivative accounts for refutes nothing.",
            "return FiniteChange(largest, unaccounted > UNACCOUNTED)",
            "return FiniteChange(largest, True)",
        ),
    ),
    *of(
        "discovery/group/local.py",
        "tests/discovery/group/test_exact_beside_near.py"
        "::test_a_symmetry_of_the_samples_alone_is_not_part_of_the_group",
    )(
        (
            "A symmetry of the samples alone is not part of a group.",
            "return largest if largest > ABOVE_ROUNDING * setting.floor else 0.0",
            "return 0.0",
        )
    ),
    *of("decision/unclosed.py", "tests/discovery/test_closed_levels.py")(
        (
            "Exact directions that form no algebra are undecided.",
            "undecided=exact - closed,",
            "undecided=0,",
        ),
        (
            "Exact directions whose brackets are not exact join the next level.",
            'grades=("exact",) * closed + (grade,) * (exact - closed)',
            'grades=("exact",) * exact',
        ),
    ),
    *of("discovery/saturation.py", "tests/discovery/test_saturation.py")(
        (
            "Halves that leave different directions open decide nothing.",
            "return bool((shares[:, 0] > SEEN_SHARE).all())",
            "return True",
        )
    ),
    *of("discovery/each_output.py", "tests/discovery/test_each_output.py")(
        ("A large output does not hide a small one.", "if not len(broken):", "if True:"),
        (
            "An output that does not respond is not a violation.",
            "return torch.where(alive[:, None], defects, 0.0)",
            "return torch.where(alive[:, None], defects, 1e9)",
        ),
    ),
    *of("decision/verified.py", "tests/decision/test_verified.py")(
        (
            "Directions that fail come after the others.",
            "return Verified(new, order, tuple(shares[i] for i in order))",
            "return Verified(new, tuple(range(len(order))), shares)",
        ),
        (
            "Exact directions that do not close are lowered.",
            'if worse or level == "exact":',
            "if False:",
        ),
    ),
    *of("decision/two_sample.py", "tests/decision/test_two_sample.py")(
        (
            "Equal distributions are rejected as rarely as stated.",
            "return share, rank / (1 + PERMUTATIONS)",
            "return share, rank / (1 + PERMUTATIONS) / 4",
        )
    ),
    *of("decision/distribution.py", "tests/decision/test_distribution.py")(
        (
            "The noise of the means is taken from their squares.",
            "problem.mean.mT @ problem.mean - problem.noise",
            "problem.mean.mT @ problem.mean",
        )
    ),
    *of("polarization/extremes.py", "tests/polarization/test_extremes.py")(
        ("Constant columns are named.", "(state.least == state.greatest)", "(state.least != 0)")
    ),
    *of("polarization/sample_digest.py", "tests/polarization/test_sample_digest.py")(
        ("The digest of the data depends on its order.", " + splitmix64(places * STRIDE)", "")
    ),
    *of("polarization/sample_digest.py", "src/liegg/polarization/sample_digest.py")(
        ("Zeros of both signs are one sample.", "_word_sums(samples + 0.0)", "_word_sums(samples)")
    ),
    *of("inputs/spot_check.py", "tests/inputs/test_spot_check.py")(
        (
            "A model that mixes samples in a later batch is found.",
            "if float(mixing.max()) > self._allowed(MIXING_UNITS * eps):",
            "if False:",
        ),
        (
            "A model that draws random numbers in a later batch is found.",
            "if float(random.max()) > self._allowed(RANDOM_UNITS * eps):",
            "if False:",
        ),
    ),
    *of("inputs/task.py", "tests/inputs/test_task.py")(
        (
            "A target is of classes.",
            "if model.target is not None or is_logits(model.output_field):",
            "if is_logits(model.output_field):",
        ),
        ("Maps are values.", "if len(model.output_shape) > 1:", "if False:"),
    ),
    *of("inputs/target.py", "tests/inputs/test_target.py")(
        ("A class minus itself is refused.", "if one == other:", "if False:"),
        (
            "A class that is listed twice is refused.",
            "if len(set(classes)) < len(classes):",
            "if False:",
        ),
        ("True is not a class.", "if isinstance(one, bool) or not", "if not"),
    ),
    *of("inputs/structure/packed.py", "tests/inputs/structure/test_packed.py")(
        (
            "Numbers that differ between structured samples are refused.",
            "differ = varying(shared, values, number, first) | differ",
            "pass",
        )
    ),
    *of("algebra/finite/close.py", "tests/algebra/finite/test_close.py")(
        (
            "A tolerance that joins elements is refused.",
            "if not 0 < tolerance < 0.25:",
            "if False:",
        ),
        (
            "A matrix without an inverse is refused.",
            "if not float(torch.linalg.cond(matrix)) < 1e12:",
            "if False:",
        ),
    ),
    *of(
        "algebra/stability.py",
        "tests/algebra/test_identify_noise.py",
        "tests/algebra/test_identify.py",
    )(
        (
            "A name that another action of the same algebra may take is not sure.",
            "return None if abstract == name else Diagnosis.OTHER_ACTION",
            "return None if True else Diagnosis.OTHER_ACTION",
        )
    ),
    *of("discovery/about/shares.py", "tests/discovery/about/test_shares.py")(
        (
            "A share of changed predictions has an interval that is never empty.",
            "max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half))",
            "mean, mean",
        )
    ),
    *of("discovery/verification/measure.py", "tests/discovery/verification/test_measure.py")(
        (
            "Outputs that are not finite are infinitely far.",
            ".nan_to_num(nan=torch.inf, posinf=torch.inf)",
            ".nan_to_num(nan=0.0, posinf=0.0)",
        )
    ),
)


class Outcome(NamedTuple):
    """What the tests said of one mutation."""

    mutation: Mutation
    kind: str
    failed: str
    seconds: float


def copy_tree(folder: Path) -> Path:
    """A copy of what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".hypothesis")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    return folder


def run_tests(tree: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run tests until the first fails; exit status and the name of that test, or the last line.

    In a fork of this process, which has imported torch already but nothing of liegg.
    """
    log = tree / "log.txt"
    child = os.fork()
    if child == 0:
        _run_here(tree, tests, log)
    end = time.monotonic() + TIMEOUT
    while (waited := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return 1, f"no end after {TIMEOUT} s"
        time.sleep(0.05)
    text = log.read_text(encoding="utf-8", errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    lines = text.strip().splitlines()
    return os.waitstatus_to_exitcode(waited[1]), failed[1] if failed else "".join(lines[-1:])


def _run_here(tree: Path, tests: Sequence[str], log: Path) -> NoReturn:
    """Run tests in this process and end it with pytest's status; all output goes to a file."""
    status = 3
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(tree)
        os.environ |= {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
        options = ["-x", "--quiet", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
        status = int(pytest.main([*options, "-p", "no:xdist", *tests]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def outcome(tree: Path, mutation: Mutation) -> Outcome:
    """Apply a mutation in a copy, run its tests, and take it back."""
    start = time.perf_counter()
    path = tree / "src" / "liegg" / mutation.file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if mutation.old not in text:
        return Outcome(mutation, "text not found", "", 0.0)
    tests = [test for test in mutation.tests if (tree / test.split("::")[0]).exists()]
    try:
        rewrite(path, text.replace(mutation.old, mutation.new, 1))
        status, failed = run_tests(tree, tests) if tests else (4, "no such tests")
    finally:
        rewrite(path, text)
    kind = {0: "SURVIVED", 1: "caught"}.get(status, "broken")
    return Outcome(mutation, kind, failed, time.perf_counter() - start)


def rewrite(path: Path, text: str) -> None:
    """Write a module and drop its bytecode, which within a second could pass for that of the new text."""
    path.write_text(text, encoding="utf-8")
    for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        stale.unlink()


def baseline(tree: Path, mutations: Sequence[Mutation]) -> list[str]:
    """Tests that fail without any mutation, whose failures would mean nothing."""
    files = sorted({test for mutation in mutations for test in mutation.tests})
    status, last = run_tests(
        tree, [name for name in files if (tree / name.split("::")[0]).exists()]
    )
    return [] if status == 0 else [last]


OWN: list[Path] = []
"""The copy of the tree that this worker uses."""


def take_tree(free: Any) -> None:
    """Give a worker its copy of the tree."""
    OWN.append(free.get())


def work(mutation: Mutation) -> Outcome:
    """One mutation in the worker's own copy."""
    return outcome(OWN[0], mutation)


def main() -> int:
    """Run all mutations, print a line for each, store the table."""
    parser = argparse.ArgumentParser(description="break each promise once")
    parser.add_argument("--only", default="", help="part of a file name or of a promise")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the tree that work at once")
    parser.add_argument("--no-baseline", action="store_true", help="trust that all tests pass now")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "mutations.json")
    chosen = parser.parse_args()
    start = time.perf_counter()
    mutations = [entry for entry in MUTATIONS if chosen.only in entry.file + entry.promise]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as folder:
        trees = [copy_tree(Path(folder) / f"tree-{number}") for number in range(chosen.jobs)]
        if not chosen.no_baseline and (failing := baseline(trees[0], mutations)):
            print(f"a test fails without any mutation: {failing[0]}")
            return 1
        fork = get_context("fork")
        free = fork.SimpleQueue()
        for tree in trees:
            free.put(tree)
        with fork.Pool(chosen.jobs, initializer=take_tree, initargs=(free,)) as pool:
            for done in pool.imap_unordered(work, mutations):
                outcomes.append(done)
                where = f"{done.kind:<14} {done.mutation.file}: {done.mutation.promise}"
                print(f"{where} [{done.failed}] {done.seconds:.0f} s", flush=True)
    caught = sum(done.kind == "caught" for done in outcomes)
    print(f"{caught} of {len(mutations)} mutations were caught")
    if not chosen.only:
        store(outcomes, chosen.out, time.perf_counter() - start)
    return int(caught < len(mutations))


def store(outcomes: Sequence[Outcome], path: Path, seconds: float) -> None:
    """Write the table with its provenance."""
    sys.path.insert(0, str(ROOT / "src"))
    from liegg.studies.provenance import provenance

    order = {mutation: number for number, mutation in enumerate(MUTATIONS)}
    rows = [
        {**done.mutation._asdict(), "outcome": done.kind, "failed": done.failed}
        for done in sorted(outcomes, key=lambda done: order[done.mutation])
    ]
    table = {
        "study": "mutations",
        "caught": sum(row["outcome"] == "caught" for row in rows),
        "mutations": len(rows),
        "rows": rows,
        "provenance": provenance(COMMAND, seconds=seconds),
    }
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
