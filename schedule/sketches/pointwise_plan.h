// One elementwise statement: its memory access order and its steps (pointwise.cc).
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
  std::vector<std::string> flat;   // names of the loops as they are fused, one by one
  std::vector<int64_t> extents;
  bool uniform = false;  // all accesses have the output's offsets, or none
  /// A copy that may have nothing to do (ir/nest/in_place.h). The number of tasks is small for
  /// every extent, because the tasks are started in any case.
  bool few_tasks = false;
  bool is_scatter = false;  // instances may write the same element, because their indices are
                            // loaded
  /// For a scatter: the number of outer loops whose iterations write different elements. The next
  /// `carried` loops may write one element several times, and keep their order. One more loop may
  /// follow, which is contiguous and writes different elements again.
  size_t free = 0;
  size_t carried = 0;
  /// An iterator that is contiguous for a read for which the last one is strided. Blocks of both
  /// iterators read rows and write columns.
  std::optional<std::string> across;
};

/// Checks that two instances of a statement without reducer may write one element: its index is
/// loaded, or equal for several instances.
bool Scatters(const Statement& statement);

/// Returns nothing for a reduction and for a statement of one element. Also returns nothing if
/// elements may depend on each other, except for those that a scatter writes to one element.
/// `block` is the least extent, in iterations, for which blocked transposed reads are useful.
std::optional<PointwisePlan> MakePointwisePlan(const Compute& compute, const Statement& statement,
                                               int64_t block);

struct PointwiseChoice {
  int64_t vector = 64;
  int64_t trips = 16;  // vector steps in a task, if the loops are fused
  bool non_temporal = false;
  int64_t block = 0;  // block of transposed reads; 0: gathered
};

/// Adds the statement's steps. Enough loops become tasks to give each of `threads` threads several.
void WritePointwise(const PointwisePlan& plan, const PointwiseChoice& choice, int threads,
                    Schedule& schedule);

}  // namespace tunec
