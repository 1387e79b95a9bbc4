"""What every system has to do."""


class Peer:
    """One way to run a model. load() prepares, run() is what gets timed."""
    tunes = False  # load() itself times candidates, so needs the machine to itself

    def __init__(self, threads, trials):
        self.threads, self.trials = threads, trials

    def load(self, path, inputs, outputs):
        """Compile the model at `path` for these inputs; outputs: reference arrays."""
        raise NotImplementedError

    def run(self):
        """Run once, to completion."""
        raise NotImplementedError

    def results(self):
        """Output arrays of the latest run, in order."""
        raise NotImplementedError

    def unload(self):
        """Drop the model."""
        self.__dict__ = {"threads": self.threads, "trials": self.trials}

    def version(self):
        return "?"
