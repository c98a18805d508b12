"""Entry of `liegg` and `python -m liegg`; imports nothing heavy before a command is chosen."""

import sys


def main() -> None:
    """Run the command line; without its optional packages, say how to install them."""
    try:
        from liegg.cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"liegg: the command line needs {error.name}. Type: pip install 'liegg[cli]'")
    app(prog_name="liegg")


if __name__ == "__main__":
    main()
