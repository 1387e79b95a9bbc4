"""Imports operators that reshape tensors or permute axes."""
from ..handler_table import handles


@handles("view.default", "reshape.default", "_unsafe_view.default", "_reshape_alias.default",
         "view_copy.default", "_reshape_copy.default", "flatten.using_ints",
         "unflatten.int", "view_as.default", "reshape_as.default", "unsqueeze.default",
         "unsqueeze_copy.default", "squeeze.default", "squeeze.dim", "squeeze.dims",
         "squeeze_copy.default", "squeeze_copy.dim", "squeeze_copy.dims", "ravel.default",
         "atleast_1d.default", "atleast_2d.default", "atleast_3d.default")
def reshape(call, x, *_):
    """Reshapes to the result's shape."""
    return x.reshape(call.shape())


@handles("expand.default", "expand_copy.default", "expand_as.default", "broadcast_to.default")
def expand(call, x, *_):
    return x.expand(call.shape())


@handles("permute.default", "permute_copy.default")
def permute(call, x, dims):
    return x.transpose([d % x.rank for d in dims])


@handles("transpose.int", "transpose_copy.int", "swapaxes.default", "swapdims.default")
def transpose(call, x, a, b):
    return x if x.rank < 2 else x.swap(a % x.rank, b % x.rank)


@handles("t.default", "t_copy.default", "mT.default")
def turn(call, x):
    return x if x.rank < 2 else x.swap(x.rank - 2, x.rank - 1)


@handles("numpy_T.default")
def reverse_axes(call, x):
    return x.transpose(range(x.rank)[::-1])


@handles("movedim.int")
def movedim(call, x, source, destination):
    source, destination = source % x.rank, destination % x.rank
    perm = [axis for axis in range(x.rank) if axis != source]
    perm.insert(destination, source)
    return x.transpose(perm)
