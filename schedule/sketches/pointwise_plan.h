// The plan for one elementwise statement, mainly the order of its loops, and the writer that turns
// the plan into steps (pointwise.cc).
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
  std::vector<std::string> flat;   // names of the loops after each step that fuses them
  std::vector<int64_t> extents;
  bool uniform = false;  // each access has the output's offset or a constant offset
  /// True if a statement of the Compute is a scatter. Others may then be copies that have nothing
  /// to do (ir/nest/in_place.h). They get few tasks, because the tasks are started in any case.
  bool few_tasks = false;
  bool is_scatter = false;  // instances may write the same element (Scatters)
  /// For a scatter: the iterations of the `free` outer loops write different elements. The next
  /// `carried` loops may write one element several times, so their iterations keep their order. One
  /// more loop may follow, which is contiguous and whose iterations write different elements.
  size_t free = 0;
  size_t carried = 0;
  /// The iterator along which most of the reads that are strided along the last iterator are
  /// contiguous; empty if there is none. Blocks of both iterators read rows and write columns.
  std::optional<std::string> across;
};

/// Checks that two instances of a statement without reducer may write one element, because its
/// index is loaded or equal for several instances.
bool Scatters(const Statement& statement);

/// Returns the plan of a statement. Returns nothing for a reduction, for a statement without
/// iterators, and if elements may depend on each other. The elements that a scatter writes several
/// times are an exception. Blocks of transposed reads are used only if both of their iterators have
/// at least `block` values.
std::optional<PointwisePlan> MakePointwisePlan(const Compute& compute, const Statement& statement,
                                               int64_t block);

struct PointwiseChoice {
  int64_t vector = 64;
  int64_t trips = 16;  // vector steps in a task, if the loops are fused
  bool non_temporal = false;
  int64_t block = 0;  // block of transposed reads; 0: gathered
};

/// Adds the statement's steps. If the statement is large enough, each of `threads` threads gets
/// several tasks.
void WritePointwise(const PointwisePlan& plan, const PointwiseChoice& choice, int threads,
                    Schedule& schedule);

}  // namespace tunec
