"""The record as a notebook shows it: verdict, facts, spectrum, and the complete table to unfold."""

from liegg.report.page import charts
from liegg.report.page.page import facts, rendered, verdict
from liegg.results.symmetries import Symmetries


def notebook_html(sym: Symmetries) -> str:
    """A compact piece of HTML without script; for `Symmetries._repr_html_`.

    Args:
        sym: the result of `discover`.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    record = sym.to_dict()
    values = {"verdict": verdict(record), "facts": facts(record), "record": record}
    return rendered(
        "notebook.html.jinja", values | {"table": str(sym), "chart": charts.defects(record)}
    )
