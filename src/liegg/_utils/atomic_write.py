"""Files that are whole or not there."""

from pathlib import Path

from liegg._utils.errors import ArgumentError


def write_text(text: str, path: str | Path) -> Path:
    """Write a text under another name and rename it into place; the folder is made if needed."""
    path = Path(path)
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no plain file"
        raise ArgumentError(
            f"{path} is {kind}; expected a file to write, for example {path / 'report.html' if path.is_dir() else 'report.html'}."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
