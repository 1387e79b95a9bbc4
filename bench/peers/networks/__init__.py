"""The networks, operators and fusion patterns that the peers run, with seeded random weights.

`table.py` lists them by name. `seeded.build(name)` makes a module and its inputs.
"""
