// What fusing is worth: bytes that are neither written nor read again and launches that are
// saved, against what is computed more than once.
#pragma once

#include "graph/group.h"

namespace tunec {

/// How costs are weighed: one core's share of memory bandwidth, its arithmetic, a launch and
/// its barrier. Rough on purpose: decisions hang on their order of magnitude.
inline constexpr double kBytesPerSecond = 1e10;
inline constexpr double kOperationsPerSecond = 2e10;
inline constexpr double kLaunchSeconds = 2e-6;

/// Negative when fusing loses.
double SecondsSaved(const FusionCost& cost);

int64_t ElementsOf(const Graph& graph, ValueId value);
int64_t BytesOf(const Graph& graph, ValueId value);

/// Of fusing `value` into one of its `users`: alone with it the value is never stored, among
/// several it is still written, but this user needs not read it.
FusionCost CostOfFusing(const Graph& graph, ValueId value, size_t users);

}  // namespace tunec
