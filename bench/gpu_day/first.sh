#!/usr/bin/env bash
# Runs first.py on a machine with a GPU (README.md). Reads only this checkout and build-gpu-day.
exec "${PYTHON:-python3}" -B "$(dirname "${BASH_SOURCE[0]}")/first.py" "$@"
