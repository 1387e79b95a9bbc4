"""The systems that are compared, a file each; `table.py` lists what peers.py calls them."""
