"""The handlers, a module for each family of operators. Importing this package registers them."""
from . import (attention, comparison, conversions, convolution, creation, distances,  # noqa: F401
               elementwise, indexing, matmul, norms, order, pool_places, pools, reductions, resize,
               rounding, scatter, shapes, views)
