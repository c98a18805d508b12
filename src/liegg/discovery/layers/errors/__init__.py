"""The equivariance error that each layer of a network adds under one motion."""
