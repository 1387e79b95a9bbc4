"""A class that makes random tensors of one element type, for the tests of operators."""
import torch


class Sampler:
    """A generator of random operands of one type. Equal seeds give equal operands."""

    def __init__(self, dtype, seed):
        self.dtype = dtype
        self._generator = torch.Generator().manual_seed(seed)

    def _ints(self, low, high, shape):
        return torch.randint(low, high, shape, generator=self._generator)

    def pick(self, *choices):
        return choices[int(self._ints(0, len(choices), (1,)))]

    def size(self, least=1, most=7):
        return int(self._ints(least, most + 1, (1,)))

    def t(self, *shape):
        """Returns normally distributed floats, integers from -9 (unsigned: 0) to 9, or booleans."""
        if self.dtype == torch.bool:
            return self._ints(0, 2, shape).bool()
        if not self.dtype.is_floating_point:
            low = -9 if self.dtype.is_signed else 0
            return self._ints(low, 10, shape).to(self.dtype)
        return torch.randn(shape, generator=self._generator).to(self.dtype)

    def positive(self, *shape):
        if not self.dtype.is_floating_point:
            return self._ints(1, 10, shape).to(self.dtype)
        return (torch.rand(shape, generator=self._generator) * 3 + 0.25).to(self.dtype)

    def unit(self, *shape):
        """Returns floats between -0.95 and 0.95, integers from -9 (unsigned: 0) to 1, or booleans."""
        if not self.dtype.is_floating_point:
            return self.t(*shape).clamp(max=1) if self.dtype != torch.bool else self.t(*shape)
        return (torch.rand(shape, generator=self._generator) * 1.9 - 0.95).to(self.dtype)

    def nonzero(self, *shape):
        x = self.t(*shape)
        return torch.where(x == 0, torch.ones_like(x), x)

    def special(self, *shape):
        """Returns the tensor of `t`. Some floats are replaced by infinities, NaN and zeros."""
        x = self.t(*shape)
        if not self.dtype.is_floating_point:
            return x
        flat = x.flatten()
        for i, value in enumerate((float("nan"), float("inf"), -float("inf"), 0.0, -0.0)):
            if i < flat.numel():
                flat[(i * 3) % flat.numel()] = value
        return flat.reshape(shape)

    def halves(self, *shape):
        """Returns multiples of one half from -4.5 to 4.5 to test rounding. For other types than
        floats, returns the tensor of `t`."""
        if not self.dtype.is_floating_point:
            return self.t(*shape)
        return (self._ints(-9, 10, shape) / 2).to(self.dtype)

    def distinct(self, *shape):
        """Returns distinct numbers in random order. They repeat if the type has too few."""
        count = torch.Size(shape).numel()
        order = torch.randperm(count, generator=self._generator)
        if self.dtype == torch.bool:
            return (order % 2).bool().reshape(shape)
        shift = count // 2 if self.dtype.is_signed else 0
        return (order - shift).to(self.dtype).reshape(shape)

    def orders(self, rows, count):
        """Returns rows of `count` different numbers, at most 256 for the narrowest types."""
        return torch.stack([self.distinct(count) for _ in range(rows)])

    def index(self, high, *shape, negative=False):
        return self._ints(-high if negative else 0, high, shape)

    def distinct_index(self, high, count):
        return torch.randperm(high, generator=self._generator)[:count]

    def mask(self, *shape):
        return self._ints(0, 2, shape).bool()
