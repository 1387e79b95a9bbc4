#!/usr/bin/env bash
# The first minutes with a GPU (README.md). It reads this checkout and build-gpu-day alone.
exec "${PYTHON:-python3}" -B "$(dirname "${BASH_SOURCE[0]}")/first.py" "$@"
