"""The options of a call as the JSON object that the C interface reads."""
import json
import os

# Options that are paths, of which Python has a type.
_PATHS = ("db", "failures", "worker")


def _plain(name, value):
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
    if plain.get("worker") is None:
        plain.pop("worker", None)
    return json.dumps(plain)
