"""Measures how many CPUs other processes use."""
import os
import time


class Foreign:
    """A meter of the CPUs that other processes kept busy during a `with` block. After the block,
    `cpus` is their mean number."""

    @staticmethod
    def sample():
        with open("/proc/stat") as f:
            user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        return busy, sum(os.times()[:2]), time.perf_counter()

    def __enter__(self):
        self.start = self.sample()
        return self

    def __exit__(self, *_):
        busy, own, wall = (b - a for a, b in zip(self.start, self.sample()))
        self.cpus = max(0.0, busy - own) / wall
