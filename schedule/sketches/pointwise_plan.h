// One statement in which every element is computed by itself: how it walks memory, and its steps
// (pointwise.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "schedule/schedule.h"

namespace tunec {

struct PointwisePlan {
  std::string statement;
  std::vector<std::string> order;  // iterators, outermost first, the contiguous one last
  std::vector<std::string> flat;   // what loops are called as they are fused, one by one
  std::vector<int64_t> extents;
  bool uniform = false;  // all accesses have the output's offsets, or none
  /// A copy that may turn out to have nothing to do (ir/nest/in_place.h): not many tasks, whatever
  /// its size, for they are started all the same.
  bool few_tasks = false;
  bool is_scatter = false;  // its instances may meet: they write at loaded places
  /// Of a scatter: so many outer loops tell elements apart. The next ones may write one element
  /// several times, and keep their order. One more tells apart again, and is contiguous.
  size_t free = 0;
  size_t carried = 0;
  /// An iterator that a read walks memory with, where the last one makes strides: in blocks of
  /// both, rows are read and columns written.
  std::optional<std::string> across;
};

/// Whether two instances of a statement without reducer may write one element: its place is loaded,
/// or the same for several.
bool Scatters(const Statement& statement);

/// None for a reduction, a statement of one element, and one whose elements may depend on each
/// other but for those that a scatter writes at one place. `block`: the least extent, in
/// iterations, of what is worth reading across.
std::optional<PointwisePlan> MakePointwisePlan(const Compute& compute, const Statement& statement,
                                               int64_t block);

struct PointwiseChoice {
  int64_t vector = 64;
  int64_t trips = 16;  // vector steps in a task, when the loops are fused
  bool non_temporal = false;
  int64_t block = 0;  // of transposed reads; 0: gathered
};

/// Adds the statement's steps; as many loops become tasks as give `threads` threads several.
void WritePointwise(const PointwisePlan& plan, const PointwiseChoice& choice, int threads,
                    Schedule& schedule);

}  // namespace tunec
