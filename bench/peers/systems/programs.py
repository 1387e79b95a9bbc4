"""Runs programs of other systems, and extracts their error messages."""
import os
import shutil
import subprocess


def find(bindir, tool):
    """Returns the path of a tool in the folder `bindir` or on PATH. Returns the name of the tool if
    it is in neither."""
    path = os.path.join(bindir, tool)
    return path if os.path.exists(path) else shutil.which(tool) or tool


def call(command):
    """Runs a command. If it fails, raises RuntimeError with its first error message."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{os.path.basename(command[0])}: {first_error(done.stderr)}")


def first_error(text):
    lines = [s for s in text.splitlines() if s.strip()]
    return next((s for s in lines if "error" in s.lower()), lines[-1] if lines else "failed")[:300]
