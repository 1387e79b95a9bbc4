"""Weights that are read where they lie, as long as an executable lives."""
import sys


def held(weights):
    """Returns the weights, by name, with memory that stays. The native module holds buffers. In the
    place of a tensor of torch comes an alias, and the storage of both cannot be resized any more."""
    torch = sys.modules.get("torch")
    if torch is None:
        return dict(weights)
    return {name: _pinned(torch, weight) if isinstance(weight, torch.Tensor) else weight
            for name, weight in dict(weights).items()}


def _pinned(torch, tensor):
    same = tensor.detach()
    if same.device.type == "cpu":
        # torch lets nobody resize a storage that NumPy has seen.
        torch.empty(0, dtype=torch.uint8).set_(same.untyped_storage()).numpy()
    return same
