"""Known algebras in concrete coordinates, proposed for a span."""
