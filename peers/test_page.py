"""The how-to page of other packages: PyG and Hugging Face by plain calls."""

import shown


def test_the_blocks_run_and_print_what_the_page_shows() -> None:
    """SchNet, a network with normals, BERT, ViT and a detector."""
    shown.check("peers")
