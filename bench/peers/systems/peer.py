"""The class Peer, the interface of every compared system."""


class Peer:
    """A system that runs a model. load() prepares, run() is timed."""
    tunes = False  # load() times candidates, so it needs an idle machine

    def __init__(self, threads, trials):
        self.threads, self.trials = threads, trials

    def load(self, path, inputs, outputs):
        """Compiles the model at `path` for these inputs. `inputs` and `outputs` map names to
        arrays; those of `outputs` are the reference."""
        raise NotImplementedError

    def run(self):
        """Runs once, to completion."""
        raise NotImplementedError

    def results(self):
        """Returns the output arrays of the latest run, in order."""
        raise NotImplementedError

    def unload(self):
        """Releases the model."""
        self.__dict__ = {"threads": self.threads, "trials": self.trials}

    def version(self):
        return "?"
