// Split sums on a device, for sums with too few outputs to occupy all processors. Each block sums
// one part of the products, and a second phase adds the parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/sketches/device_phase.h"

namespace tunec {

/// A sum whose reduced iterator is split into parts of equal length; the last part may be shorter.
struct SumParts {
  int64_t count = 1;
  std::vector<ComputeStep> steps;  // steps that split the sum into two statements
  Compute partial;                 // the statement that computes the partial sums, alone
  DevicePhase adding;  // the statement with the original sum's name, which adds the parts, and its
                       // followers
  std::string loop;    // loop over the parts in `adding`
  double seconds = 0;  // time for storing and adding the partial sums
};

/// Returns possible numbers of parts for `length` iterations, at most 64. Each number divides the
/// length and is at least twice the previous one. No part has fewer than `least` iterations.
std::vector<int64_t> PartCounts(int64_t length, int64_t least);

/// Returns possible lengths of the parts if the last part may be shorter. Half of `length`, a
/// quarter and so on are rounded up to multiples of `multiple`, and no length occurs twice. There
/// are at most 64 parts, of which only the last may have fewer than `least` iterations.
std::vector<int64_t> PartLengths(int64_t length, int64_t least, int64_t multiple);

/// Splits the first statement's sum along the iterator `reduced` into parts of `length` iterations.
/// Partial sums are contiguous along `column`, an iterator of the written index. Returns nothing if
/// the contract requires sums in the written order, or if a step or the phase that adds does not
/// fit.
std::optional<SumParts> SplitSum(const PhaseQuestion& question, VarId reduced, VarId column,
                                 int64_t length);

}  // namespace tunec
