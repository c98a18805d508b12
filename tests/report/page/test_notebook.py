"""The compact form of a result in notebooks."""

import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg.report.page.page import notebook_html

VOID = {"line", "circle", "rect", "path", "br", "meta", "input"}


class Tree(HTMLParser):
    """Counts tags and checks that they close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: dict[str, int] = {}
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def sym():
    return liegg.discover(lambda x: x.square().sum(1), normal(200, 4), liegg.Linear(4))


def test_it_is_whole_and_small_and_says_what_the_page_says(sym):
    text = sym._repr_html_()
    made = Tree(text)
    assert len(text) < 40_000
    assert sym.sentence in made.text
    assert str(sym) in made.text
    assert made.count["circle"] == sym.nullity == 6
    assert made.count.get("script", 0) == made.count.get("link", 0) == made.count.get("img", 0) == 0
    assert "http" not in text


def test_names_stay_text(sym):
    hostile = "</pre><script>alert(1)</script>"
    made = Tree(notebook_html(replace(sym, model=hostile)))
    assert "script" not in made.count
    assert hostile in made.text


def test_nothing_found_and_nothing_that_moves():
    none = liegg.discover(mlp(3, 16, 2), normal(200, 3), liegg.Linear(3))
    assert not none.nullity
    assert none.sentence in Tree(notebook_html(none)).text
    still = Tree(
        notebook_html(
            liegg.discover(
                lambda x: x.sum(1), torch.zeros(50, 2, dtype=torch.float64), liegg.Linear(2)
            )
        )
    )
    assert "svg" not in still.count


def test_warnings_are_told():
    few = liegg.discover(lambda x: x.square().sum(1), normal(4, 3), liegg.Linear(3))
    assert few.decision.warnings
    for warning in few.decision.warnings:
        assert warning in Tree(notebook_html(few)).text


def test_without_jinja2_the_notebook_shows_the_text(sym, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert sym._repr_html_() is None


def test_layers_show_their_table_too():
    found = liegg.discover_layers(mlp(3, 8, 2), normal(60, 3), liegg.Linear(3))
    text = found._repr_html_()
    assert str(found) in Tree(text).text
