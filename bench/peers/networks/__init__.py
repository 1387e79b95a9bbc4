"""The compared networks, operators and fusion patterns: real architectures, seeded weights.

`table.py` lists them by name, `seeded.build(name)` builds a module.
"""
