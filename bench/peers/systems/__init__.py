"""The compared systems, one file each; `table.py` has their names in peers.py."""
