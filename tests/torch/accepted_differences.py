"""The operators of torch's table that may differ from eager mode, with reasons."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Accepted:
    """Accepted differences of an operator. With `parts`, only a difference whose sample and text
    contain all parts is accepted.
    """

    operator: str
    reason: str
    parts: tuple = ()

    def covers(self, difference):
        named = difference.operator.split()[0] == self.operator
        whole = f"{difference.sample} {difference.text}"
        return named and all(part in whole for part in self.parts)


# Parts of the names of operators that are not compared. These operators have random, ambiguous or
# complex results, or always stay in torch.
SKIPPED = ("fft", "linalg", "stft", "rand", "normal", "bernoulli", "dropout", "multinomial", "uniform",
           "exponential", "cauchy", "geometric", "sparse", "masked.", "_refs", "jiterator", "empty",
           "nested", "cholesky", "svd", "lu", "qr", "geqrf", "ormqr", "eig", "pinv", "lobpcg", "pca",
           "as_strided", "resize", "item", "tensor_split", "cdouble", "chalf", "cfloat",
           "view_as_complex", "polar", "complex", "fractional_max", "rrelu", "ctc_loss",
           "special.airy", "bessel", "chebyshev", "hermite", "laguerre", "legendre", "zeta",
           "triangular_solve", "matrix_exp", "logdet", "lstsq", "histogram", "quantile",
           "combinations", "cartesian", "unravel", "flash", "efficient", "tensorsolve", "__r")

_PADDING = "eager mode multiplies padding by infinite weights, which gives NaN"
_ROUNDED_PLACES = "eager mode rounds places between pixels to bfloat16"
_OVERFLOW = "squares of deviations overflow in float32: 0 or NaN where eager mode has NaN"
_ORDER = "the order of equal integers is not defined"

ACCEPTED = (
    *(Accepted(f"nn.functional.conv{n}d", _PADDING, ("special",)) for n in (1, 2, 3)),
    *(Accepted(f"nn.functional.conv_transpose{n}d", _PADDING, ("special",)) for n in (1, 2, 3)),
    Accepted("cross", "eager mode rounds one of two products alone, so that only one overflows",
             ("special",)),
    Accepted("grid_sampler_2d", _ROUNDED_PLACES, ("bfloat16",)),
    Accepted("nn.functional.grid_sample", _ROUNDED_PLACES, ("bfloat16",)),
    Accepted("native_group_norm", _OVERFLOW, ("special",)),
    Accepted("native_layer_norm", _OVERFLOW, ("special",)),
    Accepted("nn.functional.group_norm",
             "eager mode multiplies the mean by the weight first, so that infinite weights give NaN",
             ("special",)),
    Accepted("topk", _ORDER, ("int",)),
    Accepted("norm", "eager mode's singular values do not converge", ("nuc",)),
)
