"""Exceptions and warnings of tunec. Statuses of tunec.h that a caller can act on have a class."""


class Error(RuntimeError):
    """A call of tunec failed. `status` is the number of tunec_status in tunec.h."""

    status = 11

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        if status is not None:
            self.status = status


class InvalidArgument(Error, ValueError):
    """An option, shape or type is wrong."""

    status = 1


class ParseError(Error, ValueError):
    """A model or option text is malformed. The message has the position."""

    status = 2


class Unsupported(Error, NotImplementedError):
    """The input is valid, but tunec does not support it."""

    status = 3


class NotFound(Error, FileNotFoundError):
    """A file does not exist."""

    status = 4


class InputOutputError(Error, OSError):
    """Reading or writing failed."""

    status = 5


class ResourceLimit(Error, MemoryError):
    """Memory or another resource is exhausted."""

    status = 7


class DeviceError(Error):
    """The processor lacks a feature, or the GPU failed."""

    status = 8


class Cancelled(Error):
    """A callback ended the call."""

    status = 9


class CopyWarning(UserWarning):
    """An input has another layout than the executable expects, so every run copies the input."""


class NotCompiledWarning(UserWarning):
    """torch runs a part of a model that tunec does not compile, or traces a graph again that tunec
    does not cache."""


_CLASSES: dict[int, type[Error]] = {kind.status: kind for kind in
            (InvalidArgument, ParseError, Unsupported, NotFound, InputOutputError, ResourceLimit,
             DeviceError, Cancelled)}


def error_of(status: int, message: str) -> Error:
    """Returns the exception of a status. A status without a class gives an Error."""
    kind = _CLASSES.get(status)
    return kind(message) if kind else Error(message, status)
