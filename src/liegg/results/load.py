"""`liegg.load`: whatever liegg stored in a folder."""

from pathlib import Path
from typing import Any

from liegg._utils.arguments import checked
from liegg.actions import Action
from liegg.results import storage
from liegg.results.group_storage import load_group
from liegg.results.layer_storage import load_layers
from liegg.results.run_folder import has_group_alone, has_layers_alone


@checked()
def load(
    folder: str | Path, *, action: Action | None = None, output_action: Action | None = None
) -> Any:
    """Read back a stored result; its numbers come back bit for bit, and nothing is computed.

    Args:
        folder: what `Symmetries.save`, `LayerSymmetries.save`, `GroupSymmetries.save` or `liegg discover --out` wrote.
        action: the candidate generators of a result for an action of your own, which cannot be made from its settings.
        output_action: the same for the action on the outputs.

    Returns:
        `Symmetries`; or `LayerSymmetries` or `GroupSymmetries` if the folder holds layers or a group alone. The layers and the
        group of a folder that holds more are read by `liegg.results.load_layers` and `liegg.results.load_group`.

    Raises:
        RecordError: a file is missing, damaged, changed since, or of another format, or the action does not fit.

    Examples:
        >>> import tempfile, torch, liegg
        >>> found = liegg.discover_layers(torch.nn.Tanh(), torch.randn(50, 2), liegg.Linear(2))
        >>> liegg.load(found.save(tempfile.mkdtemp())).names
        ('output',)
    """
    read = storage.load
    if has_layers_alone(folder):
        read = load_layers
    elif has_group_alone(folder):
        read = load_group
    return read(folder, action=action, output_action=output_action)
