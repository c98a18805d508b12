"""`liegg.load`: read any result that liegg stored in a folder."""

from pathlib import Path
from typing import Any

from liegg._utils.arguments import checked
from liegg.actions import Action
from liegg.results import storage
from liegg.results.group_storage import load_group
from liegg.results.layer_storage import load_layer_errors, load_layers
from liegg.results.run_folder import only_result


@checked()
def load(
    folder: str | Path, *, action: Action | None = None, output_action: Action | None = None
) -> Any:
    """Read back a stored result; its numbers come back bit for bit, and nothing is computed.

    Args:
        folder: what `save` of a result, `liegg discover --out` or `liegg layer-errors --out` wrote.
        action: the candidate generators of a result for an action of your own, which cannot be made from its settings.
        output_action: the same for the action on the outputs.

    Returns:
        `Symmetries`; `LayerSymmetries`, `LayerErrors` or `GroupSymmetries` if the folder holds these alone. Beside another
        result they are read by `liegg.results.load_layers`, `load_layer_errors` and `load_group`.

    Raises:
        RecordError: a file is missing, damaged, changed since, or of another format, or the action does not fit.

    Examples:
        >>> import tempfile, torch, liegg
        >>> found = liegg.discover_layers(torch.nn.Tanh(), torch.randn(50, 2), liegg.Linear(2))
        >>> liegg.load(found.save(tempfile.mkdtemp())).names
        ('output',)
    """
    alone = only_result(folder)
    if alone == "layer errors":
        return load_layer_errors(folder, action=action)
    read = {"layers": load_layers, "group": load_group}.get(alone, storage.load)
    return read(folder, action=action, output_action=output_action)
