// Sums that a device makes in parts, where their outputs are too few to give all of its processors
// work: blocks reduce one part each, and a second phase adds the parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/sketches/device_phase.h"

namespace tunec {

/// A sum, a reduced iterator of which is cut into parts that are equally long, but for the last
/// one.
struct SumParts {
  int64_t count = 1;
  std::vector<ComputeStep> steps;  // that make two statements of the sum
  Compute partial;                 // the one that makes the partial sums, alone
  DevicePhase adding;              // the other, with what follows the sum
  std::string loop;                // its over the parts
  double seconds = 0;              // that the parts cost, beside what makes them
};

/// How many parts `length` iterations may have: numbers that divide them, each at least twice the
/// one before, of which none has fewer than `least` iterations.
std::vector<int64_t> PartCounts(int64_t length, int64_t least);

/// How long the parts may be where the last one may have fewer iterations: multiples of `multiple`,
/// not less than `least`, each at most about half of the one before.
std::vector<int64_t> PartLengths(int64_t length, int64_t least, int64_t multiple);

/// The first statement's sum in parts of `reduced`, `length` iterations long. Partial sums lie side
/// by side along `column`, an iterator of what is written. None where the contract has sums added
/// as written.
std::optional<SumParts> SplitSum(const PhaseQuestion& question, VarId reduced, VarId column,
                                 int64_t length);

}  // namespace tunec
