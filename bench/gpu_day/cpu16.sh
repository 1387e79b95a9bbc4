#!/usr/bin/env bash
# Runs cpu16.py on a CPU with many cores and AMX (README.md). Reads only this checkout and
# build-gpu-day.
exec "${PYTHON:-python3}" -B "$(dirname "${BASH_SOURCE[0]}")/cpu16.py" "$@"
