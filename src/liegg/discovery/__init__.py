"""Stage 8, discovery: the verbs discover, discover_layers, layer_errors, verify and compare."""
