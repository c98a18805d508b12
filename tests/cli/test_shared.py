"""What all commands share: help, version, completion, progress bars, exit codes."""

import os
import re
import subprocess
import sys
import time
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress
from typer import Context
from typer.main import get_command
from typer.testing import CliRunner

import liegg
from command import run
from liegg.cli import app
from liegg.cli._shared import print_error, progress_bars
from liegg.cli.plain_help import definitions

COMMANDS = ["demo", "discover", "show", "report", "compare", "reproduce"]


def test_a_missing_package_gets_an_install_hint() -> None:
    script = "import sys\nsys.modules['typer'] = None\nfrom liegg.__main__ import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "pip install 'liegg[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_messages_have_the_words_of_the_command_line_but_for_what_was_typed(capsys) -> None:
    print_error("For one vector pass Linear(5), or Affine(3, copies=2).")
    print_error("action 'Linear(5)': Expected linear:N.")
    assert capsys.readouterr().err == (
        "liegg: For one vector pass linear:5, or affine:3x2.\n"
        "liegg: action 'Linear(5)': Expected linear:N.\n"
    )


def test_the_core_commands_do_not_import_the_studies(folder: Path) -> None:
    script = (
        "import sys\n"
        "for name in ('pooch', 'matplotlib', 'liegg.studies'): sys.modules[name] = None\n"
        "from liegg.cli import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
    )
    words = [
        "discover",
        "--model",
        "nets_for_cli:norm",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "-q",
    ]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr


def test_version() -> None:
    assert run("--version")[:2] == (0, f"liegg {liegg.__version__}\n")


def test_help_has_an_example_and_the_common_options() -> None:
    for command in COMMANDS:
        code, out, _ = run(command, "--help")
        words = " ".join(out.split())
        assert code == 0
        assert {"--json", "--quiet"} <= set(words.split())
        assert re.search(rf"Examples?: .*liegg {command} ", words), words
        assert "\x1b" not in out  # no colours in a pipe


def test_the_options_of_discover_are_grouped() -> None:
    panels = re.findall(r"^([A-Z][a-z ]+):$", run("discover", "--help")[1], re.MULTILINE)
    assert panels == ["Input", "Question", "Trust", "Output", "Large runs", "Options"]


def test_help_shows_every_option_whole() -> None:
    for command, width in product(["", *COMMANDS], [60, 80, 200]):
        words = [command] if command else []
        out = CliRunner().invoke(app, [*words, "--help"], terminal_width=width).stdout
        assert max(map(len, out.splitlines())) <= width
        shown = {word.strip(",") for word in out.split()}
        group: Any = get_command(app)
        context = Context(group)
        one = group.get_command(context, command) if command else group
        for parameter in one.get_params(Context(one, parent=context)):
            names, text = parameter.get_help_record(context) or ("", "")
            assert set(re.findall(r"(?<!\w)--?[a-z][a-z-]*|<[^ |]*>", names)) <= shown
            # Every word of the text is there, the default whole on one line.
            assert set(re.findall(r"[a-z-]{2,}", text)) <= set(re.findall(r"[a-z-]{2,}", out))
            assert all(default in out for default in re.findall(r"\[default[^]]*\]", text))


def test_help_is_as_wide_as_the_terminal() -> None:
    command = [sys.executable, "-m", "liegg", "discover", "--help"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "60"}
    )
    assert 50 < max(map(len, done.stdout.splitlines())) <= 60


def test_choices_of_an_argument_are_broken_between_two_of_them() -> None:
    rows = [("study <" + "|".join(["sample-complexity"] * 5) + ">", "A study.")]
    assert "".join(line.strip() for line in definitions(rows, 60)[:-1]) == rows[0][0]


def test_help_states_exit_codes_and_completion() -> None:
    words = " ".join(run("--help")[1].split())
    assert re.search(r"Exit codes: 0 .* 1 .* 2 .* 130 ", words)
    assert "--install-completion" in words


def test_tab_completion() -> None:
    for line, offered in [
        ("liegg ", set(COMMANDS)),
        ("liegg reproduce o", {"o5"}),
        ("liegg discover --action image:a", {"image:affine", "image:affine:28x28"}),
        ("liegg discover --outputs ", {"each", "sum"}),
        ("liegg discover --control ", {"reinitialised"}),
    ]:
        environment = {
            "_LIEGG_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split(" ")) - 1),
        }
        done = CliRunner().invoke(app, [], env=environment, prog_name="liegg")
        assert offered <= set(done.stdout.split()), done.output


@pytest.mark.parametrize(
    "words",
    [
        "show a",
        "report a",
        "compare a b",
        "demo --out demo",
        "discover --model nets_for_cli:norm --data x.npy --action linear:4 --out run",
    ],
)
def test_ctrl_c_ends_with_one_line_and_130(
    words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    for name in (
        "liegg.results.storage.load",
        "liegg.results.run_folder.load",
        "liegg.studies.o5.train",
        "liegg.cli.models.load_model",
    ):
        monkeypatch.setattr(name, interrupted)
    before = set(folder.iterdir())
    code, out, err = run(*words.split())
    assert (code, out, err.count("\n")) == (130, "", 1)
    assert [path for new in set(folder.iterdir()) - before for path in new.rglob("*")] == []


def test_the_next_piece_of_work_restarts_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[tuple[float, float | None]] = []
    update = Progress.update

    def spy(self: Progress, task: Any, **options: Any) -> None:
        update(self, task, **options)
        states.append((self.tasks[0].completed, self.tasks[0].total))

    monkeypatch.setattr(Progress, "update", spy)
    with progress_bars(hidden=True) as advance:
        for label, done, total in (("a", 3, 5), ("a", 2, 5), ("b", 1, 5), ("c", 2, 9), ("c", 7, 9)):
            advance(label, done, total)
    assert states == [(3, 5), (5, 5), (1, 5), (2, 9), (9, 9)]


def test_the_bar_shows_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    text = StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        "rich.console.Console", lambda **_: Console(file=text, force_terminal=True, width=120)
    )
    with progress_bars(False, "samples") as advance:
        for _ in range(3):
            time.sleep(0.05)
            advance("reading", 100, 1000)
        time.sleep(0.2)
    assert re.search(r"[\d,]+ samples/s", text.getvalue())
