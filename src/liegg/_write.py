"""Files that are whole or not there."""

from pathlib import Path


def write_text(text: str, path: str | Path) -> Path:
    """Write a text under another name and rename it into place; the folder is made if needed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
