"""Every mutation still finds its text and its tests, so that none of them silently stops to break anything."""

import ast
from pathlib import Path

import pytest

from mutations import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("file", sorted({mutation.file for mutation in MUTATIONS}))
def test_every_mutation_changes_a_source_that_still_reads_so(file):
    text = (ROOT / "src" / "liegg" / file).read_text(encoding="utf-8")
    for mutation in (entry for entry in MUTATIONS if entry.file == file):
        assert mutation.old in text, mutation.promise
        ast.parse(text.replace(mutation.old, mutation.new, 1))


def missing(mutation: Mutation) -> list[str]:
    """Tests of a mutation that are nowhere."""
    places = [(ROOT / Path(test.split("::")[0]), test) for test in mutation.tests]
    return [
        test
        for path, test in places
        if not path.exists()
        or ("::" in test and f"def {test.split('::')[1]}(" not in path.read_text(encoding="utf-8"))
    ]


def test_every_mutation_names_tests_that_exist():
    assert [
        (mutation.promise, missing(mutation)) for mutation in MUTATIONS if missing(mutation)
    ] == []


def test_no_promise_is_listed_twice():
    promises = [(mutation.file, mutation.promise) for mutation in MUTATIONS]
    assert len(set(promises)) == len(promises)
    assert all(mutation.old != mutation.new for mutation in MUTATIONS)


def test_tests_that_are_not_there_are_seen():
    known = MUTATIONS[0]._replace(tests=(__file__, f"{__file__}::test_no_promise_is_listed_twice"))
    assert missing(known) == []
    gone = ("tests/none.py", f"{__file__}::test_of_nothing")
    assert missing(known._replace(tests=gone)) == list(gone)
