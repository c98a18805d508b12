"""An inner point of a model: what arrives there becomes the data, and the part behind it the model."""
