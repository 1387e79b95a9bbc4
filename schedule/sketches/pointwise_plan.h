// The plan for one elementwise statement or scatter, mainly the order of its loops, and the writer
// that turns the plan into steps.
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
  /// True if the fused loops should get few tasks. Beside a scatter, a statement may be a copy that
  /// is omitted (ir/nest/in_place.h), but its tasks are started in any case.
  bool few_tasks = false;
  bool is_scatter = false;  // instances may write the same element (Scatters)
  /// For a scatter: the iterations of the `free` outer loops write different elements. The next
  /// `carried` loops may write one element several times, so their iterations keep their order. One
  /// more loop may follow, which is contiguous and whose iterations write different elements.
  size_t free = 0;
  size_t carried = 0;
  /// The iterator along which the largest number of reads is contiguous, of all reads that are
  /// strided along the last iterator. Empty if there are no blocks. Blocks of both iterators read
  /// rows and write columns.
  std::optional<std::string> across;
};

/// Checks that a statement has no reducer, and has a write with a loaded index or an iterator that
/// no write uses. Several instances may then write one element.
bool Scatters(const Statement& statement);

/// Returns the plan of a statement. Returns nothing for a reduction, for a statement without
/// iterators, and if the statement may read other elements of the storage that it writes. Blocks of
/// transposed reads are planned only if both of their iterators have at least `block` values.
std::optional<PointwisePlan> MakePointwisePlan(const Compute& compute, const Statement& statement,
                                               int64_t block);

struct PointwiseChoice {
  int64_t vector = 64;
  int64_t trips = 16;  // vector steps in a task, if the loops are fused
  bool non_temporal = false;
  int64_t block = 0;  // block of transposed reads; 0: gathered
};

/// Adds the statement's steps for a host with `threads` threads.
void WritePointwise(const PointwisePlan& plan, const PointwiseChoice& choice, int threads,
                    Schedule& schedule);

}  // namespace tunec
