"""Exceptions; each message states what was given, what was expected and what to type instead."""


class LieggError(Exception):
    """Base class of all exceptions of `liegg`."""


class ArgumentError(LieggError, ValueError):
    """An argument has an invalid value."""


class UnavailableError(ArgumentError, AttributeError):
    """A result does not have this attribute, so that `hasattr` is false."""


class DataError(LieggError, ValueError):
    """The data cannot be analysed as given."""


class EmptyDataError(DataError):
    """The data holds no sample."""


class OneShotDataError(DataError):
    """The data can be read only once."""


class TreeDataError(DataError):
    """Samples are trees of tensors, where tensors were expected."""


class NonFiniteError(DataError):
    """A value is NaN or infinite."""


class DtypeError(DataError):
    """The data or the output is not real floating point."""


class ShapeError(DataError):
    """An array does not have the shape that the action or the model needs."""


class RaggedDataError(ShapeError):
    """Samples have different shapes."""


class DatasetError(DataError):
    """A data set cannot be found, downloaded or read."""


class ModelError(LieggError, ValueError):
    """The model is not a deterministic, differentiable function of one sample."""


class VaryingValueError(ModelError, AttributeError):
    """The model uses a value beside the tensors that differs between samples."""


class NoOutputError(ModelError):
    """The model takes the samples, but returns nothing that can be analysed."""


class RandomModelError(ModelError):
    """Two calls on the same input differ."""


class BatchMixingError(ModelError):
    """The output of a sample depends on the other samples of its batch."""


class NotDifferentiableError(ModelError):
    """The output changes with the input, but carries no derivative."""


class HiddenDerivativeError(NotDifferentiableError):
    """The output changes with the input by more than its derivative shows."""


class DeviceMemoryError(LieggError, RuntimeError):
    """The device has too little memory."""


class RecordError(LieggError, ValueError):
    """A result cannot be read or stored."""


class ReportError(RecordError):
    """A result is stored, but not its report."""


class CheckpointError(LieggError, ValueError):
    """A checkpoint cannot be used or written."""


class ProcessError(LieggError, RuntimeError):
    """The processes of a distributed analysis disagree, or one of them is lost."""


class ResultsError(LieggError, ValueError):
    """Stored results of a study, or an unfinished run of one, cannot be used."""


class MissingExtraError(LieggError, ImportError):
    """An optional part of `liegg` is not installed."""


def one_line(error: Exception) -> str:
    """Type and first sentence of an exception.

    >>> one_line(ValueError("too small. Choose a larger one."))
    'ValueError: too small'
    """
    text = (str(error).strip() or "no message").splitlines()[0].split(". ")[0].rstrip(".")
    return f"{type(error).__name__}: {text}"
