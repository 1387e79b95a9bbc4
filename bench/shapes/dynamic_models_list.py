"""Models with dynamic dimensions, with random weights, small enough that a run takes about 1 to 20 ms
on two processors.

Each entry of CASES is a name and a Case. Models of bench/torch_models/models.py have the same names.
"""
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "torch_models"))
from models import MODELS, TOKENS  # noqa: E402


class Case(NamedTuple):
    """A model with dynamic dimensions.

    make: returns the module, which is called with tensors.
    ranges: the least and the largest size of each dimension, by name.
    tensors: returns the module's arguments for sizes by name, and for a random generator.
    axes: for each tensor, the names of its dynamic dimensions, by dimension.
    """

    make: Callable[[], nn.Module]
    ranges: dict[str, tuple[int, int]]
    tensors: Callable[[dict[str, int], torch.Generator], tuple[torch.Tensor, ...]]
    axes: tuple[dict[int, str], ...]

    def draw(self, count: int, seed: int) -> list[dict[str, int]]:
        """Returns the random sizes of each run."""
        stream = random.Random(seed)
        return [{name: stream.randint(*bounds) for name, bounds in self.ranges.items()} for _ in range(count)]

    def arguments(self, number: int, sizes: dict[str, int]) -> tuple[torch.Tensor, ...]:
        """Returns the arguments of the run with this number."""
        return self.tensors(sizes, torch.Generator().manual_seed(number))


class Named(nn.Module):
    """A model that is called with tensors instead of named arguments, and returns its first result."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], **constants: Any) -> None:
        super().__init__()
        self.model, self.names, self.constants = model, names, constants

    def forward(self, *tensors):
        result = self.model(**dict(zip(self.names, tensors, strict=True)), **self.constants)
        return result if isinstance(result, torch.Tensor) else result[0]


def _ids(batch, length, generator, tokens=TOKENS):
    return torch.randint(tokens, (batch, length), generator=generator)


def _valid(batch, length, generator):
    """Returns a mask of valid tokens. The first sequence is as long as the mask."""
    lengths = torch.randint((length + 1) // 2, length + 1, (batch, 1), generator=generator)
    lengths[0] = length
    return (torch.arange(length)[None, :] < lengths).long()


# -- kinds of models of bench/torch_models/models.py ----------------------------------------------


def _of_models(name, inputs):
    """Returns a function that makes a model of models.py. `inputs`: the names of its tensors."""
    def make():
        model, given = MODELS[name]()
        return Named(model, inputs, **{key: value for key, value in given.items()
                                       if not isinstance(value, torch.Tensor)})
    return make


def _text(name, mask=False, batch=8, length=256):
    def arguments(sizes, generator):
        ids = _ids(sizes["batch"], sizes["length"], generator)
        return (ids, _valid(*ids.shape, generator)) if mask else (ids,)

    names = ("input_ids", "attention_mask") if mask else ("input_ids",)
    return Case(_of_models(name, names), {"batch": (1, batch), "length": (1, length)}, arguments,
                ({0: "batch", 1: "length"},) * len(names))


def _texts(name, batch=4, length=128, answer=32):
    def arguments(sizes, generator):
        return (_ids(sizes["batch"], sizes["length"], generator),
                _ids(sizes["batch"], sizes["answer"], generator))

    return Case(_of_models(name, ("input_ids", "decoder_input_ids")),
                {"batch": (1, batch), "length": (1, length), "answer": (1, answer)}, arguments,
                ({0: "batch", 1: "length"}, {0: "batch", 1: "answer"}))


def _pictures(sizes, generator):
    return (torch.randn(sizes["batch"], 3, sizes["height"], sizes["width"], generator=generator),)


def _image(name, tensor="x", batch=4, make=None):
    return Case(make or _of_models(name, (tensor,)),
                {"batch": (1, batch), "height": (32, 160), "width": (32, 160)}, _pictures,
                ({0: "batch", 2: "height", 3: "width"},))


def _batch(name, tensor="x", size=224, batch=4):
    def arguments(sizes, generator):
        return _pictures({**sizes, "height": size, "width": size}, generator)

    return Case(_of_models(name, (tensor,)), {"batch": (1, batch)}, arguments, ({0: "batch"},))


def _speech(name, batch=4):
    def arguments(sizes, generator):
        return (torch.randn(sizes["batch"], sizes["samples"], generator=generator),)

    return Case(_of_models(name, ("input_values",)), {"batch": (1, batch), "samples": (1600, 16000)},
                arguments, ({0: "batch", 1: "samples"},))


# -- models of this list alone --------------------------------------------------------------------

_LAYERS, _HEADS, _DEPTH = 4, 4, 64


class CachedGpt2(nn.Module):
    """gpt2 whose arguments are new tokens, and keys and values of the past tokens. Results are the
    logits, and keys and values of all tokens."""

    def __init__(self):
        super().__init__()
        from transformers import GPT2Config, GPT2LMHeadModel
        config = GPT2Config(vocab_size=TOKENS, n_embd=_HEADS * _DEPTH, n_layer=_LAYERS, n_head=_HEADS,
                            n_positions=512, bos_token_id=0, eos_token_id=0, attn_implementation="sdpa")
        self.model = GPT2LMHeadModel(config)

    def forward(self, ids, *past):
        from transformers import DynamicCache
        cache = DynamicCache(list(zip(past[::2], past[1::2], strict=True)))
        logits = self.model(ids, cache, use_cache=True)[0]
        return logits, *(tensor for layer in cache.layers for tensor in (layer.keys, layer.values))


def _cached_arguments(sizes, generator):
    shape = sizes["batch"], _HEADS, sizes["past"], _DEPTH
    return (_ids(sizes["batch"], sizes["new"], generator),
            *(torch.randn(shape, generator=generator) for _ in range(2 * _LAYERS)))


class WhisperFrames(nn.Module):
    """The encoder of Whisper for any number of mel frames. That of transformers takes one number."""

    def __init__(self):
        super().__init__()
        from transformers import WhisperConfig
        from transformers.models.whisper.modeling_whisper import WhisperEncoder
        config = WhisperConfig(d_model=256, encoder_layers=4, encoder_attention_heads=4, encoder_ffn_dim=512,
                               max_source_positions=512, attn_implementation="sdpa")
        self.encoder = WhisperEncoder(config)

    def forward(self, mel):
        own = self.encoder
        x = functional.gelu(own.conv2(functional.gelu(own.conv1(mel)))).permute(0, 2, 1)
        x = x + own.embed_positions.weight[:x.shape[1]]
        for layer in own.layers:
            x = layer(x, None)
        return own.layer_norm(x)


class UNet(nn.Module):
    """Convolutions of stride 2, and resizes to the size of the skip connection."""

    def __init__(self, widths=(16, 32, 64, 96)):
        super().__init__()
        self.first = self.block(3, widths[0])
        self.down = nn.ModuleList(self.block(a, b, 2) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(self.block(a + b, a) for a, b in zip(widths, widths[1:]))
        self.last = nn.Conv2d(widths[0], 2, 1)

    @staticmethod
    def block(inside, outside, stride=1):
        return nn.Sequential(nn.Conv2d(inside, outside, 3, stride, 1), nn.GroupNorm(4, outside), nn.SiLU(),
                             nn.Conv2d(outside, outside, 3, 1, 1), nn.SiLU())

    def forward(self, x):
        x = self.first(x)
        skips = []
        for down in self.down:
            skips.append(x)
            x = down(x)
        for up, skip in zip(reversed(self.up), reversed(skips)):
            x = functional.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
            x = up(torch.cat([x, skip], 1))
        return self.last(x)


class LlamaLayer(nn.Module):
    """One layer of Llama, with rotary positions and groups of queries."""

    def __init__(self):
        super().__init__()
        from transformers import LlamaConfig
        from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding
        config = LlamaConfig(hidden_size=512, intermediate_size=1376, num_attention_heads=8,
                             num_key_value_heads=2, max_position_embeddings=512, attn_implementation="sdpa")
        self.rotary, self.layer = LlamaRotaryEmbedding(config), LlamaDecoderLayer(config, 0)

    def forward(self, x):
        positions = torch.arange(x.shape[1], device=x.device)[None]
        result = self.layer(x, position_ids=positions, position_embeddings=self.rotary(x, positions))
        return result if isinstance(result, torch.Tensor) else result[0]


# swin_t is missing: its dynamic sizes keep Dynamo and AOTAutograd busy for minutes, with any backend.
CASES = {
    # texts
    "bert": _text("bert", mask=True),
    "distilbert": _text("distilbert", mask=True),
    "deberta_v2": _text("deberta_v2", length=128),
    "modernbert": _text("modernbert"),
    "gpt2": _text("gpt2"),
    "gpt2_cached": Case(CachedGpt2, {"batch": (1, 4), "past": (1, 256), "new": (1, 64)}, _cached_arguments,
                        ({0: "batch", 1: "new"}, *({0: "batch", 2: "past"},) * (2 * _LAYERS))),
    "llama_layer": Case(LlamaLayer, {"batch": (1, 4), "length": (1, 256)},
                        lambda sizes, generator: (torch.randn(sizes["batch"], sizes["length"], 512,
                                                              generator=generator),),
                        ({0: "batch", 1: "length"},)),
    "llama": _text("llama"),
    "qwen3": _text("qwen3"),
    "gemma2": _text("gemma2"),
    "t5": _texts("t5"),
    "bart": _texts("bart"),
    # speech
    "whisper_encoder": Case(WhisperFrames, {"batch": (1, 2), "frames": (16, 1000)},
                            lambda sizes, generator: (torch.randn(sizes["batch"], 80, sizes["frames"],
                                                                  generator=generator),),
                            ({0: "batch", 2: "frames"},)),
    "wav2vec2": _speech("wav2vec2"),
    # images
    "unet": _image("unet", make=UNet),
    "resnet18": _image("resnet18"),
    "mobilenet_v2": _image("mobilenet_v2"),
    "squeezenet": _image("squeezenet"),
    "convnext_tiny": _image("convnext_tiny", batch=2),
    "segformer": _image("segformer", "pixel_values", batch=2),
    "vit": _batch("vit", "pixel_values"),
}
