"""How an analysis runs: every option is checked, and a misspelt one is answered with its name."""

import math

import pytest

from liegg._utils.errors import ArgumentError
from liegg.discovery.run import Run


def test_options_that_make_no_sense(monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    for name, values in {
        "route": ("fast", None),
        "bottom": (0, -3, 2.5, True),
        "control_draws": (1, 2.5),
        "processes": ("some", True),
        "checkpoint_every": (-1, math.nan, "often"),
        "timeout": (0, math.nan, None),
    }.items():
        for value in values:
            with pytest.raises(ArgumentError, match=f"^{name}="):
                pytest.fail(f"{name}={value!r} gives {Run(**{name: value})}")


def test_options_that_make_sense():
    run = Run(
        batch_size=7,
        route="jvp",
        bottom=3,
        control_draws=2,
        checkpoint="pass.pt",
        checkpoint_every=0,
        processes="alone",
        timeout=1,
        progress=print,
    )
    assert (run.batch_size, run.route, run.bottom, run.processes) == (7, "jvp", 3, "alone")
    assert Run() == Run(route="auto", processes="all")


def test_a_misspelt_option_is_answered_with_its_name():
    with pytest.raises(ArgumentError, match=r"Run\(\) has no argument 'batchsize'.*batch_size="):
        Run(batchsize=3)  # pyright: ignore[reportCallIssue]
