"""The options of a call as the JSON object that the C interface reads."""
import importlib.util
import json
import os
from pathlib import Path

# Options that are paths, of which Python has a type.
_PATHS = ("db", "external_data", "failures", "worker")


def _layout(value):
    """"0,2,3,1" of a tuple of axes."""
    return value if isinstance(value, str) else ",".join(map(str, value))


def _plain(name, value):
    if name == "layouts":
        return {key: _layout(item) for key, item in value.items()}
    if name in _PATHS and value is not None:
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return [_plain("rules" if name == "rules" else "", item) for item in value]
    if isinstance(value, dict):
        return {key: _plain("", item) for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def options_json(options):
    """The text for tunec.h. Its names are checked there, so that there is one list of them."""
    plain = {name: _plain(name, value) for name, value in options.items()}
    if plain.get("target") == "cuda":
        _find_ptxas()
    return json.dumps(plain)


# Packages that NVIDIA's assembler comes in: of its own, as `pip install tunec[cuda]` installs it, and
# triton, which torch brings.
_PTXAS_IN = (("nvidia", "cu13/bin"), ("nvidia", "cuda_nvcc/bin"), ("triton", "backends/nvidia/bin"))


def _find_ptxas():
    """Names the ptxas of an installed package, unless the environment names one."""
    if "TUNEC_PTXAS" in os.environ:
        return
    for package, folder in _PTXAS_IN:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            ptxas = Path(place) / folder / "ptxas"
            if os.access(ptxas, os.X_OK):
                os.environ["TUNEC_PTXAS"] = str(ptxas)
                return
