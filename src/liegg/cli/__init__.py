"""The command line: parse, call, print. It imports torch only inside a command, so help is instant."""

from typing import Annotated

import typer

from liegg._utils.version import __version__
from liegg.cli.demo import demo
from liegg.cli.discover import discover
from liegg.cli.layer_errors import layer_errors
from liegg.cli.plain_help import LARGEST_WIDTH, PlainCommand, PlainGroup
from liegg.cli.reproduce import reproduce
from liegg.cli.results import compare, report, show

EPILOG = """Examples:

liegg demo

liegg discover --model mypackage.nets:build --weights w.safetensors --data x.npy --action image:affine --held-out 0.2 --out run

liegg show run; liegg report run; liegg compare run other-run

Exit codes: 0 success, 1 unexpected failure, 2 error in the command or its input, 130 interrupted (Ctrl-C).

Tab completion: liegg --install-completion."""

app = typer.Typer(
    cls=PlainGroup,
    help="Find the continuous symmetries that a trained model has learned, how well they hold, and how far to trust the answer.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": LARGEST_WIDTH},
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"liegg {__version__}")
        raise typer.Exit


for command in (demo, discover, layer_errors, show, report, compare, reproduce):
    app.command(cls=PlainCommand)(command)
