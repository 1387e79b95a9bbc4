"""Confidence intervals of medians, from the order of the samples alone."""
import math


def median_interval(samples, confidence=0.9):
    """Returns the bounds of the median: the narrowest order statistics that contain it with this
    confidence. Returns the least and the greatest sample if there are too few samples."""
    ordered, n = sorted(samples), len(samples)
    outside = 0.0
    cut = 0
    while cut < n // 2:
        outside += 2 * math.comb(n, cut) / 2 ** n
        if outside > 1 - confidence:
            break
        cut += 1
    return ordered[max(cut - 1, 0)], ordered[n - max(cut, 1)]
