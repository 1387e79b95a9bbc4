#!/usr/bin/env bash
# Measures the tables of times of all families, or of the named ones.
# TUNEC is the program, CANDIDATES the number of random candidates, FOLDER the folder of the tables.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tunec=${TUNEC:-$here/../../build/bin/tunec}
folder=${FOLDER:-$here/tables}
families=("$@")
[ $# -gt 0 ] || families=(conv_3x3 conv_1x1 product_gelu product layer_norm depthwise)

mkdir -p "$folder"
for family in "${families[@]}"; do
  "$tunec" db record "$here/$family.graph" --random-weights 1 --threads 2 \
    --candidates "${CANDIDATES:-2000}" -o "$folder/$family.jsonl"
done
