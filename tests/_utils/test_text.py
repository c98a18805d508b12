"""Text for a terminal: nothing in it can steer the terminal."""

from liegg._utils.text import printable


def test_control_characters_are_written_as_escapes():
    for text, shown in [
        ("so(3) ⊕ R², δ² = 0.1\n\tnext line", "so(3) ⊕ R², δ² = 0.1\n\tnext line"),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("over\rwritten\b", r"over\rwritten\x08"),
        ("\x9b31m", r"\x9b31m"),  # the escape of eight-bit terminals
        ("abc\u202efdp.exe", r"abc\u202efdp.exe"),  # turns the direction of writing
        ("", ""),
    ]:
        assert printable(text) == shown
