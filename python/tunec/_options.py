"""Converts the options of a call to the JSON object that the C interface reads."""
import importlib.util
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Options that are paths and may be given as os.PathLike.
_PATHS = ("db", "external_data", "failures", "worker")


def _layout(value: Any) -> str:
    """Converts a tuple of axes to text such as "0,2,3,1"."""
    return value if isinstance(value, str) else ",".join(map(str, value))


def _constant(value: Any) -> Any:
    """Converts an array or a scalar of NumPy or torch to lists and numbers. Paths stay paths."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _plain(name: str, value: Any) -> Any:
    if name == "layouts":
        return {key: _layout(item) for key, item in value.items()}
    if name == "constants":
        return {key: _constant(item) for key, item in value.items()}
    if name in _PATHS and value is not None:
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return [_plain("rules" if name == "rules" else "", item) for item in value]
    if isinstance(value, dict):
        return {key: _plain("", item) for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def options_json(options: Mapping[str, Any]) -> str:
    """Returns the JSON object for the C interface. The C interface also checks the names of
    options, so that only one list of names exists."""
    plain = {name: _plain(name, value) for name, value in options.items()}
    if plain.get("target") == "cuda":
        _find_ptxas()
    return json.dumps(plain)


# Packages that contain NVIDIA's assembler: NVIDIA's own (`pip install tunec[cuda]` installs one),
# and triton, which torch depends on.
_PTXAS_IN = (("nvidia", "cu13/bin"), ("nvidia", "cuda_nvcc/bin"), ("triton", "backends/nvidia/bin"))


def _find_ptxas() -> None:
    """Sets TUNEC_PTXAS to the ptxas of an installed package, unless the variable is set."""
    if "TUNEC_PTXAS" in os.environ:
        return
    for package, folder in _PTXAS_IN:
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or ()) if spec else ():
            ptxas = Path(location) / folder / "ptxas"
            if os.access(ptxas, os.X_OK):
                os.environ["TUNEC_PTXAS"] = str(ptxas)
                return
