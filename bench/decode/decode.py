#!/usr/bin/env python3
"""Times the decoding of tokens with a static cache: tunec beside eager torch and Inductor.

    decode.py [gpt2] [llama] [--lengths 160,1024,4096,16384] [--tokens N] [--rounds N] [--json FILE]
              [--backends eager,inductor,tunec]

Each pair of a model and a cache length runs in a separate process, in which the backends take
turns. A round is a prompt of 32 tokens, in eager torch for all backends, and then N greedy tokens,
one per step. Only the step is compiled. The process runs twice, with empty compiler caches (cold)
and with the caches of the first run (warm). Logits are compared with those of the model in float64,
which processes all tokens at once without a cache.
"""
import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import write_results  # noqa: E402

THREADS = 2
PROMPT = 32
DEFAULT_LENGTHS = "160,1024,4096,16384"


def gpt2(length):
    """Returns GPT-2 small, with at least as many positions as the cache has."""
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(n_positions=max(1024, length)))


def llama(length):
    """Returns a Llama of 12 layers with 1024 channels, 16 query heads and 4 key heads."""
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16,
        num_key_value_heads=4, max_position_embeddings=max(2048, length)))


MODELS = {"gpt2": gpt2, "llama": llama}


class Decoder:
    """A model and its cache; `step` decodes one token, compiled or not."""

    def __init__(self, model, length, backend):
        import torch
        from transformers import StaticCache
        self.model = model
        self.cache = StaticCache(config=model.config, max_cache_len=length)
        self.step = self._forward
        if backend != "eager":
            self.step = torch.compile(self._forward, backend=backend, fullgraph=True, dynamic=False)

    def _forward(self, tokens, positions):
        result = self.model(input_ids=tokens, position_ids=positions, past_key_values=self.cache, use_cache=True)
        return result.logits[:, -1]

    def prefill(self, prompt):
        """Returns the logits after the prompt, with an empty cache before it."""
        import torch
        if self.cache.is_initialized:
            self.cache.reset()
        return self._forward(prompt, torch.arange(prompt.shape[1])[None])

    def decode(self, prompt, count):
        """Decodes `count` greedy tokens. Returns them with their logits and the seconds of each
        step."""
        import torch
        logits, tokens, seconds = [self.prefill(prompt)], [], []
        for i in range(count):
            tokens.append(logits[-1].argmax(-1, keepdim=True))
            started = time.perf_counter()
            logits.append(self.step(tokens[-1], torch.tensor([[prompt.shape[1] + i]])))
            seconds.append(time.perf_counter() - started)
        return torch.cat(tokens, 1), torch.stack(logits[1:], 1), seconds

    def addresses(self):
        return [tensor.data_ptr() for layer in self.cache.layers for tensor in (layer.keys, layer.values)]


def error_of(wide, prompt, tokens, logits):
    """Returns the largest difference from float64, over the largest logit."""
    import torch
    expected = wide(torch.cat([prompt, tokens], 1)).logits[:, prompt.shape[1]:]
    return ((logits.double() - expected).abs().max() / expected.abs().max()).item()


def first_token(decoder, prompt):
    """Returns the seconds of the eager prompt and the first step together, including
    compilation."""
    decoder.prefill(prompt)  # allocates the cache
    started = time.perf_counter()
    decoder.decode(prompt, 1)
    return time.perf_counter() - started


def run_one(name, length, backends, tokens, rounds):
    """Runs all measurements of one process. Returns a dictionary of results for each backend.
    Without rounds, a result has only the time of the first token."""
    import torch
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    model = MODELS[name](length).eval()
    prompt = torch.randint(0, model.config.vocab_size, (1, PROMPT))
    found = {backend: {"rates": [], "steps_ms": []} for backend in backends}
    with torch.no_grad():
        wide = copy.deepcopy(model).double()
        decoders = {backend: Decoder(model, length, backend) for backend in backends}
        for backend, decoder in decoders.items():
            found[backend]["first"] = first_token(decoder, prompt)
            if not rounds:
                continue
            before = decoder.addresses()
            made, logits, _ = decoder.decode(prompt, tokens)
            found[backend] |= {"tokens": made[0].tolist(), "error": error_of(wide, prompt, made, logits),
                               "same_cache": before == decoder.addresses()}
        del wide
        for _ in range(rounds):
            for backend, decoder in decoders.items():
                _, _, seconds = decoder.decode(prompt, tokens)
                found[backend]["rates"].append(tokens / sum(seconds))
                found[backend]["steps_ms"].append(statistics.median(seconds) * 1e3)
    return found


def run_process(name, length, arguments, caches, rounds):
    """Measures a model and a cache length in a new process. Returns the results of run_one."""
    environment = dict(os.environ, XDG_CACHE_HOME=f"{caches}/cache", TORCHINDUCTOR_CACHE_DIR=f"{caches}/inductor",
                       OMP_NUM_THREADS=str(THREADS))
    command = [sys.executable, "-B", __file__, name, "--one", "--lengths", str(length), "--tokens",
               str(arguments.tokens), "--rounds", str(rounds), "--backends", arguments.backends]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600)
    for line in ran.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise RuntimeError(f"{name}, {length}: exit code {ran.returncode}: {ran.stderr[-2000:]}")


def same_tokens(one, other):
    """Returns the number of tokens before the first difference."""
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), len(one))


def show(name, length, cold, warm):
    """Prints a line for each backend."""
    base = next(iter(cold.values()))
    for backend, found in cold.items():
        rates = found["rates"]
        first = warm.get(backend, {}).get("first")
        print(f"{name:6} {length:6} {backend:9} {statistics.median(rates):7.1f} tokens/s ({min(rates):.1f} to "
              f"{max(rates):.1f}), step {statistics.median(found['steps_ms']):.2f} ms, first token {found['first']:.1f}"
              + (f"/{first:.1f}" if first is not None else "") +
              f" s, same tokens {same_tokens(found['tokens'], base['tokens'])}/{len(base['tokens'])}, error "
              f"{found['error']:.1e}, cache {'kept' if found['same_cache'] else 'MOVED'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *MODELS])
    parser.add_argument("--lengths", default=DEFAULT_LENGTHS)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--backends", default="eager,inductor,tunec")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-warm", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    write_results.add_option(parser)
    arguments = parser.parse_args()
    lengths = [int(length) for length in arguments.lengths.split(",")]
    if arguments.one:
        print(json.dumps(run_one(arguments.names[0], lengths[0], arguments.backends.split(","), arguments.tokens,
                                 arguments.rounds)))
        return
    with write_results.recorded(arguments, packages=("tunec", "torch", "transformers")):
        compare(arguments, lengths)


def compare(arguments, lengths):
    """Runs the models and cache lengths in sequence. Prints and stores the results of each."""
    results = []
    for name in arguments.names or MODELS:
        for length in lengths:
            with tempfile.TemporaryDirectory() as caches:
                cold = run_process(name, length, arguments, caches, arguments.rounds)
                warm = {} if arguments.no_warm else run_process(name, length, arguments, caches, 0)
            results.append({"model": name, "length": length, "cold": cold, "warm": warm})
            show(name, length, cold, warm)
            if arguments.json:
                arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
