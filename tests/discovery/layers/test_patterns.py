"""Patterns of layer names: one star stays within a level, two cross the dots."""

from liegg.discovery.layers.patterns import advice, matches

NAMES = ["conv1", "layer1", "layer1.0", "layer1.0.conv1", "layer1.0.conv2", "layer2.0.conv1", "fc"]


def test_what_a_pattern_matches():
    for pattern, found in [
        ("layer*", ["layer1"]),
        ("layer**", NAMES[1:6]),
        ("layer*.*", ["layer1.0"]),
        ("layer1.**", NAMES[2:5]),
        ("**.conv*", ["conv1", "layer1.0.conv1", "layer1.0.conv2", "layer2.0.conv1"]),
        ("layer1.**.conv1", ["layer1.0.conv1"]),
        ("**.layer1.0", ["layer1.0"]),
        ("**", NAMES),
        ("***", NAMES),
        ("*", ["conv1", "layer1", "fc"]),
        ("f?", ["fc"]),
        ("layer1?0", []),
        ("layer[12]", ["layer1"]),
        ("layer[!2].0", ["layer1.0"]),
        ("layer[", []),
        ("", []),
        ("CONV1", []),
        ("layer1.0.conv+", []),
        ("(layer1", []),
    ]:
        assert [name for name in NAMES if matches(pattern, name)] == found


def test_a_name_matches_itself():
    for name in ["a[0]", "a*b", "a\\b", "[", "[]", "[!]", "a^b", "x\ny"]:
        assert matches(name, name)
        assert matches("**", name)


def test_a_set_may_hold_odd_letters():
    assert matches("a[^]", "a^")
    assert matches("a[]]", "a]")
    assert matches("a[[]", "a[")
    assert not matches("a[!^]", "a^")


def test_what_may_have_been_meant():
    assert "'layer**.conv1' matches layer1.0.conv1, layer2.0.conv1" in advice("layer*.conv1", NAMES)
    assert "layer1" in advice("layr1", NAMES)
    assert advice("zzz", NAMES) == ""
    assert advice("", NAMES) == ""
    assert "fc" in advice("fc*x", NAMES)
