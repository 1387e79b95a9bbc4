"""Reads properties and clocks of this machine's GPU, and makes the options to compile for it."""
import contextlib
import statistics
import subprocess

from day import Problem, output_of

FACTS = ("name", "uuid", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.mem", "power.limit",
         "compute_cap")
WATCHED = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")
MILLISECONDS = 200  # between two readings
# These names of `tunec --gpu` occur as words in the names of nvidia-smi.
PARTS = ("h200", "h100", "a100", "l40s", "b200", "a10")
ARCHS = {"8.0": "sm_80", "8.6": "sm_86", "8.9": "sm_89", "9.0": "sm_90a", "10.0": "sm_100a", "10.3": "sm_103a",
         "12.0": "sm_120"}


def query(names):
    return ["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits", "--id=0"]


def values_of(line):
    """Returns the cells of a line of nvidia-smi, with numbers converted."""
    cells = []
    for cell in line.strip().split(", "):
        with contextlib.suppress(ValueError):
            cell = float(cell)
        cells.append(cell)
    return cells


class Gpu:
    """A GPU and its properties. `emulated`: there is no GPU, and tunec emulates an H200."""

    def __init__(self, emulated):
        self.emulated = emulated
        self.facts = {"name": "emulated H200", "compute_cap": "9.0"}
        if not emulated:
            line = output_of(query(FACTS), seconds=30).splitlines()[0]
            self.facts = dict(zip(FACTS, values_of(line)))

    @property
    def name(self):
        return self.facts["name"]

    @property
    def part(self):
        words = self.name.lower().replace("-", " ").split()
        found = [part for part in PARTS if part in words]
        if not found:
            raise Problem(f"no part of {', '.join(PARTS)} is in the name {self.name}")
        return found[0]

    @property
    def arch(self):
        capability = str(self.facts["compute_cap"])
        if capability not in ARCHS:
            raise Problem(f"no architecture for compute capability {capability}")
        return ARCHS[capability]

    def target(self):
        """Returns the options by which the command runs a model on this GPU."""
        return ["--target", "cuda", "--arch", self.arch, *(["--emulate"] if self.emulated else [])]

    def settings(self):
        """Returns the options of `target` in the form that the library requires."""
        return {"target": "cuda", "arch": self.arch, **({"emulate": True} if self.emulated else {})}


class ClockWatch:
    """A monitor of clocks, power and temperature during a `with` block."""

    def __init__(self, gpu):
        self.gpu, self.process, self.text = gpu, None, ""

    def __enter__(self):
        if not self.gpu.emulated:
            self.process = subprocess.Popen([*query(WATCHED), f"--loop-ms={MILLISECONDS}"], text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        if self.process is not None:
            self.process.terminate()
            self.text = self.process.communicate()[0]

    def summary(self):
        """Returns least, median and greatest of each reading; None without a GPU."""
        rows = [values_of(line) for line in self.text.splitlines()]
        rows = [row for row in rows if len(row) == len(WATCHED) and all(isinstance(cell, float) for cell in row)]
        return {name: [min(column), statistics.median(column), max(column)]
                for name, column in zip(WATCHED, zip(*rows))} or None
