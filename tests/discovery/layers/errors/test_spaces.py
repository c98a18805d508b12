"""Which tensors are feature maps, and how large their pixels are."""

from liegg.discovery.layers.errors.spaces import Space, Spaces


def test_the_pitch_follows_strides_and_not_the_sides():
    """28 → 26 → 13 → 11 → 5: unpadded convolutions and pooling by 2."""
    spaces = Spaces((1, 28, 28), (1, 28, 28))
    start = spaces.of((1, 28, 28))
    assert start == Space((1, 28, 28), (1.0, 1.0))
    one = spaces.of((4, 26, 26), start, (1.0, 1.0))
    two = spaces.of((4, 13, 13), one, (2.0, 2.0))
    three = spaces.of((4, 11, 11), two, (1.0, 1.0))
    assert three == Space((4, 11, 11), (2.0, 2.0))
    four = spaces.of((8, 5, 5), three)  # by the ratio of the sides
    assert four == Space((8, 5, 5), (4.0, 4.0))
    assert spaces.of((2, 11, 11)) == Space((2, 11, 11), (2.0, 2.0))  # met before


def test_vectors_and_other_axes():
    spaces = Spaces((3, 8, 8), (3, 8, 8))
    assert spaces.of((10,)) == spaces.of((4, 1, 1)) == spaces.of((64, 4)) == Space()
    assert not Space().is_map
    assert spaces.of((8, 8, 3)) is None  # channels last


def test_flat_samples_and_samples_without_channels():
    flat = Spaces((64,), (1, 8, 8))
    assert flat.of((64,)) == flat.of((1, 8, 8)) == Space((1, 8, 8), (1.0, 1.0))
    assert flat.of((32,)) == Space()
    bare = Spaces((8, 8), (1, 8, 8))
    assert bare.of((4, 4)) == Space((1, 4, 4), (2.0, 2.0))
