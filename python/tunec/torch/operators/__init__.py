"""The handlers, a module for each family of operators. Importing this package registers them."""
from . import (attention, comparison, conversions, convolution, creation, elementwise,  # noqa: F401
               indexing, matmul, norms, order, pool_places, pools, reductions, resize, rounding,
               scatter, shapes, views)
