"""The symmetries of a data set, without any model."""
