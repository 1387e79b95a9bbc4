"""Classes of compiled models that tests call like functions. By default, there is no database and
a model has two threads."""
import tunec
from tunec.torch.sized import as_named, as_stored, empty_output


class CompiledFile:
    """A compiled model file."""

    def __init__(self, path, **options):
        self._executable = tunec.compile(path, **{"db": None, "threads": 2, **options})

    def report(self):
        return self._executable.report

    def __call__(self, inputs, types):
        """Returns the outputs. Expects their types to be `types`, pairs of a dtype and a shape."""
        outputs = self._executable(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for output, (dtype, shape) in zip(outputs, types, strict=True):
            assert (output.dtype, tuple(output.shape)) == (dtype, tuple(shape))
        return list(outputs)


class CompiledGraph:
    """A compiled ImportedGraph. Its outputs are those of the graph's text, including the new values
    of mutated inputs."""

    def __init__(self, graph, **options):
        self.graph = graph
        self._executable = tunec.compile(graph.text, weights=graph.weights,
                                         **{"db": None, "threads": 2, **options})

    def report(self):
        return self._executable.report

    def __call__(self, *inputs):
        given = [as_stored(x.detach(), port.order)
                 for x, port in zip(inputs, self.graph.inputs, strict=True)]
        out = [as_stored(empty_output(port), port.order) for port in self.graph.outputs]
        self._executable(*given, out=out)
        return [as_named(x, port.order) for x, port in zip(out, self.graph.outputs)]
