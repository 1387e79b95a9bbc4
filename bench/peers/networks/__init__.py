"""The networks, operators and fusion patterns that are compared: real architectures, seeded weights.

`table.py` lists them by name, `seeded.build(name)` makes one.
"""
