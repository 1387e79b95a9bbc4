#!/usr/bin/env bash
# A processor with many cores and AMX (README.md). It reads this checkout and build-gpu-day alone.
exec "${PYTHON:-python3}" -B "$(dirname "${BASH_SOURCE[0]}")/cpu16.py" "$@"
