"""Functions that encode small ONNX models, so that the tests do not need the onnx package."""


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def value_info(name, shape):
    """Returns a ValueInfoProto of float32. A dimension that is a string is a parameter."""
    dims = b"".join(block(1, number(1, d) if isinstance(d, int) else block(2, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, 1) + block(2, dims)))


def node(op, inputs, outputs, name=""):
    return (b"".join(block(1, x) for x in inputs) + b"".join(block(2, y) for y in outputs)
            + block(3, name or op) + block(4, op))


def model(nodes, inputs, outputs, opset=17):
    """Returns a ModelProto. inputs and outputs are {name: shape}."""
    graph = b"".join(block(1, n) for n in nodes) + block(2, "g")
    graph += b"".join(block(11, value_info(n, s)) for n, s in inputs.items())
    graph += b"".join(block(12, value_info(n, s)) for n, s in outputs.items())
    return number(1, 8) + block(7, graph) + block(8, block(1, "") + number(2, opset))


def tensor(shape, floats):
    """Returns a TensorProto of float32."""
    import struct
    return (b"".join(number(1, d) for d in shape) + number(2, 1)
            + block(9, struct.pack(f"<{len(floats)}f", *floats)))


def with_external_data(shape, weight, location):
    """Returns the ModelProto of y = x + weight. A file at the location has the elements."""
    elements = (b"".join(number(1, d) for d in shape) + number(2, 1) + block(8, weight) + number(14, 1)
                + block(13, block(1, "location") + block(2, location)))
    graph = block(1, node("Add", ["x", weight], ["y"])) + block(2, "g") + block(5, elements)
    graph += block(11, value_info("x", shape)) + block(12, value_info("y", shape))
    return number(1, 8) + block(7, graph) + block(8, block(1, "") + number(2, 17))
