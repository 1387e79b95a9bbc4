"""The compared systems, one file each. `table.py` maps the names that peers.py uses to classes."""
