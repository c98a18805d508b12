"""Stage 8, discovery: the verbs discover, discover_layers, verify and compare."""
