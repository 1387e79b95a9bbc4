"""What can go wrong, as exceptions: one class for each status of tunec.h that a caller can act on."""


class Error(RuntimeError):
    """A call of tunec failed. `status` is the number of tunec_status in tunec.h."""

    status = 11

    def __init__(self, message, status=None):
        super().__init__(message)
        if status is not None:
            self.status = status


class InvalidArgument(Error, ValueError):
    """A wrong option, shape or type."""

    status = 1


class ParseError(Error, ValueError):
    """A malformed model or option text. The message says where."""

    status = 2


class Unsupported(Error, NotImplementedError):
    """Well-formed, but tunec cannot do it."""

    status = 3


class NotFound(Error, FileNotFoundError):
    """A file that is not there."""

    status = 4


class InputOutputError(Error, OSError):
    """Reading or writing failed."""

    status = 5


class ResourceLimit(Error, MemoryError):
    """Memory or another quota."""

    status = 7


class DeviceError(Error):
    """The processor lacks something, or the GPU failed."""

    status = 8


class Cancelled(Error):
    """A callback ended the call."""

    status = 9


class CopyWarning(UserWarning):
    """An input does not lie as the executable wants it, so every run copies it."""


class NotCompiledWarning(UserWarning):
    """Something that torch.compile was to compile, or to keep, is left to torch."""


_CLASSES = {kind.status: kind for kind in
            (InvalidArgument, ParseError, Unsupported, NotFound, InputOutputError, ResourceLimit,
             DeviceError, Cancelled)}


def error_of(status, message):
    """The exception of a status; one that has no class of its own is an Error."""
    kind = _CLASSES.get(status)
    return kind(message) if kind else Error(message, status)
