"""What all commands share: help, version, bars, how they end."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import liegg
from command import run
from liegg.cli._shared import named_bars


def test_help_is_fast_because_torch_is_not_imported() -> None:
    script = "import sys\nfrom liegg.__main__ import main\ntry:\n    main()\nexcept SystemExit: pass\nprint('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"
    assert "discover" in done.stdout


def test_missing_optional_package_gets_an_install_hint() -> None:
    script = "import sys\nsys.modules['typer'] = None\nfrom liegg.__main__ import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert (
        done.stderr.strip() == "liegg: the command line needs typer. Type: pip install 'liegg[cli]'"
    )


def test_version() -> None:
    assert run("--version")[:2] == (0, f"liegg {liegg.__version__}\n")


def test_a_second_piece_of_work_begins_its_own_bar() -> None:
    from rich.progress import Progress

    seen: list[tuple[float, float | None]] = []
    original = Progress.update

    def spy(self: Progress, task: Any, **words: Any) -> None:
        original(self, task, **words)
        seen.append((self.tasks[0].completed, self.tasks[0].total))

    with pytest.MonkeyPatch.context() as patch, named_bars(hidden=True) as advance:
        patch.setattr(Progress, "update", spy)
        for label, done, total in (("a", 3, 5), ("a", 2, 5), ("b", 1, 5), ("c", 2, 9), ("c", 7, 9)):
            advance(label, done, total)
    assert seen == [(3, 5), (5, 5), (1, 5), (2, 9), (9, 9)]


@pytest.mark.parametrize("command", ["demo", "discover", "show", "report", "compare", "reproduce"])
def test_every_command_has_help_with_an_example_and_the_common_options(command: str) -> None:
    code, out, _ = run(command, "--help")
    words = " ".join(out.replace("│", " ").split())
    assert code == 0
    assert "--json" in out
    assert "--quiet" in out
    if command != "demo":
        assert re.search(rf"[Ee]xamples?: .*liegg {command} ", words), words


def test_help_documents_exit_codes_and_completion() -> None:
    words = " ".join(run("--help")[1].split())
    assert (
        "Exit codes: 0 done, 1 an unexpected failure, 2 a mistake in what was typed or given, 130 interrupted (Ctrl-C)."
        in words
    )
    assert "liegg --install-completion" in words


def test_no_colours_when_piped() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "liegg", "discover", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("liegg ", {"demo", "discover", "show", "report", "compare", "reproduce"}),
        ("liegg reproduce o", {"o5"}),
        ("liegg discover --action image:a", {"image:affine", "image:affine:28x28"}),
        ("liegg discover --outputs ", {"each", "sum"}),
        ("liegg discover --control ", {"reinitialised"}),
    ],
)
def test_tab_completion(typed: str, offered: set[str]) -> None:
    words = {
        "_LIEGG_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "liegg"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | words,
        timeout=60,
    )
    assert offered <= set(done.stdout.split()), done


@pytest.mark.parametrize("command", ["show", "report", "compare", "demo", "discover"])
def test_ctrl_c_ends_with_a_word_and_130(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    for name in (
        "liegg.results.storage.load",
        "liegg.results.run_folder.load",
        "liegg.studies.o5.train",
        "liegg.cli.files.load_model",
    ):
        monkeypatch.setattr(name, interrupted)
    words = {
        "compare": ("a", "b"),
        "demo": ("--out", "demo"),
        "discover": (
            "--model",
            "nets_for_cli:norm",
            "--data",
            "x.npy",
            "--action",
            "linear:4",
            "--out",
            "run",
        ),
    }.get(command, ("a",))
    before = set(folder.iterdir())
    code, out, err = run(command, *words)
    assert (code, out, err) == (130, "", "liegg: interrupted.\n")
    assert {
        path for new in set(folder.iterdir()) - before for path in new.rglob("*")
    } == set()  # an empty folder at most


def test_a_real_interruption_leaves_nothing_half_written(folder: Path) -> None:
    """A process that is interrupted while it reads the data; by a signal, as a terminal sends it."""
    Path("slow_for_cli.py").write_text(
        "import time\n\ndef slow(x):\n    time.sleep(0.05)\n    return x.square().sum(1)\n\ndef build():\n    return slow\n"
    )
    words = [
        "discover",
        "--model",
        "slow_for_cli:build",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "--batch-size",
        "2",
        "--out",
        "run",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "liegg", *words],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if Path("run").exists():  # made just before the reading begins
            break
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert err == "liegg: interrupted.\n"
    assert not Path("run").exists()


def test_the_bar_tells_the_rate() -> None:
    from io import StringIO

    from rich.console import Console

    text = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        patch.setattr(
            "rich.console.Console", lambda **_: Console(file=text, force_terminal=True, width=120)
        )
        with named_bars(False, "samples") as advance:
            for _ in range(5):
                time.sleep(0.05)
                advance("reading", 100, 1000)
            time.sleep(0.2)
    assert re.search(r"[\d,]+ samples/s", text.getvalue())
