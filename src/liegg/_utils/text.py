"""Text for a terminal."""


def printable(text: str) -> str:
    r"""The text with control characters written as escapes, so that a name cannot steer a terminal; lines stay lines.

    >>> printable("a\x1b[31mb\nc\td")
    'a\\x1b[31mb\nc\td'
    """
    return "".join(
        one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode()
        for one in text
    )
