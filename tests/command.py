"""The command line in this process."""

from typer.testing import CliRunner

from liegg.cli import app


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout, done.stderr
