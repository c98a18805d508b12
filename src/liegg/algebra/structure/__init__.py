"""Structure constants and what follows from them."""
