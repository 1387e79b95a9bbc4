// What fusing is worth: bytes that are neither written nor read again and launches that are
// saved, against what is computed more than once, cores that have nothing to do, and values that do
// not fit the registers.
#pragma once

#include <span>
#include <string>

#include "graph/fuse/group.h"

namespace tunec {

/// How costs are weighed: one core's share of memory bandwidth, its arithmetic, a launch and
/// its barrier. Rough on purpose: decisions hang on their order of magnitude.
inline constexpr double kBytesPerSecond = 1e10;
inline constexpr double kOperationsPerSecond = 2e10;
inline constexpr double kLaunchSeconds = 2e-6;
/// Fewer independent parts than this leave cores idle.
inline constexpr double kCores = 8;
/// Vectors that a kernel can hold without going through memory; no target has fewer.
inline constexpr int kVectorRegisters = 16;

/// Negative when fusing loses.
double SecondsSaved(const FusionCost& cost);

/// The decisive gain and, where something is lost, the decisive loss:
/// "2.11 us (a launch) against 3.10 ms (computed 12 times)". Empty when nothing changes.
std::string Explain(const FusionCost& cost);

int64_t ElementsOf(const Graph& graph, ValueId value);
int64_t BytesOf(const Graph& graph, ValueId value);

/// Of fusing `value` into one of its `users`: alone with it the value is never stored, among
/// several it is still written, but this user needs not read it.
FusionCost CostOfFusing(const Graph& graph, ValueId value, size_t users);

/// How many values are in registers at once when the nodes, in order, compute one element each.
int LiveValues(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace tunec
