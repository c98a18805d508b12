"""Functions and networks whose symmetries are known beforehand, and how often a rule that counts symmetries is wrong about them."""
