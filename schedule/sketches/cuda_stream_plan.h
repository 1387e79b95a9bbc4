// The plan by which thread blocks compute flash attention: two products, with work on rows between
// them (cuda_stream.cc). The plan has the work of each statement and the operands in shared
// storage. The choice has the sizes of a block's work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "ir/target.h"
#include "schedule/schedule.h"
#include "schedule/sketches/stream_plan.h"

namespace tunec {

/// The work of a statement on the rows of a block.
enum class StreamWork {
  kFirst,    // the first product; the last product sums its results
  kLast,     // the last product
  kQueries,  // computes the operand of the first product: rows x the dimension that this product
             // sums over
  kCells,    // rows x columns, elementwise
  kColumns,  // a reduction of columns to one value per row
  kRows,     // one value per row
  kWidths,   // rows x widths, elementwise
};

/// An operand that does not depend on the block of rows: the keys or the values.
struct CudaStreamOperand {
  std::optional<CopyStep> copy;   // copy to shared storage; empty if the operand is not copied
  std::string copied;             // name of the statement and of the tensor that the step makes
  bool along_reduced = true;      // contiguous along the dimension that the product sums over
  int64_t bytes = 4;              // size of an element
  int64_t chunk = 1;              // number of elements (at most 16 bytes) that are copied together
  std::vector<std::string> ones;  // loops of the copy over dimensions with one element
  std::vector<int64_t> order;     // order of the copy's dimensions, the contiguous one last
};

struct CudaStreamPlan {
  StreamPlan stream;
  std::vector<StreamWork> work;  // by statement
  CudaStreamOperand keys;        // operand of the first product
  CudaStreamOperand values;      // operand of the last product

  StreamWork WorkOf(StatementId s) const { return work[s.index()]; }
  /// Checks that the KV block is an index of every access to the tensor. Each value is then used
  /// only in the KV block that computes the value.
  bool StaysInChunk(TensorId tensor) const;
  /// Checks that only the thread that computes a value of the tensor reads the value.
  bool IsPrivate(TensorId tensor) const;
};

/// Returns the plan. Returns nothing if MakeStreamPlan does, if its plan has `bounded_columns`, or
/// if a statement does none of the kinds of work.
std::optional<CudaStreamPlan> MakeCudaStreamPlan(const NamedCompute& lowering);

/// The sizes of a block's work. A block has `column_threads` threads for each group of
/// `row_elements` rows.
struct CudaStreamChoice {
  int64_t column_threads = 16;
  int64_t row_elements = 2;
  int64_t depth_piece = 16;   // length of a K-block of the first product's sum in shared storage
  int64_t column_piece = 16;  // length of a K-block of the last product's sum in shared storage
  int64_t stages = 2;         // number of K-blocks in shared storage at once
};

/// Returns the number of groups of `row_elements` rows in a block; the last one may be smaller.
int64_t RowThreads(const CudaStreamPlan& plan, const CudaStreamChoice& choice);

/// Returns whether a warp has several groups of rows. Without a swizzle, exponentials of different
/// rows would be in the same banks of shared storage. With the swizzle, each exponential needs a
/// separate address in a register.
bool RowsChangePlaces(const CudaStreamChoice& choice);

/// Returns the number of consecutive elements, of `extent` in a row, that one thread processes
/// together: 4 or 2 if it divides `extent` and leaves work for all threads of a row, otherwise 1.
int64_t LanesOf(int64_t extent, const CudaStreamChoice& choice);

/// Returns the choice, reduced to sizes that the plan and, if possible, the device allow.
CudaStreamChoice Fitted(const CudaStreamPlan& plan, CudaStreamChoice choice,
                        const Accelerator& device);

/// Returns the estimated time by occupancy, waves and bytes; infinite if not even one block fits.
/// Requires: no property of the device is unknown (WithAllFacts).
double EstimateSeconds(const CudaStreamPlan& plan, const CudaStreamChoice& choice,
                       const Accelerator& device);

/// Returns the choice with the least estimated time of those with moderate numbers of threads and
/// registers; a default choice if there are none. Requires: no property of the device is unknown
/// (WithAllFacts).
CudaStreamChoice BestCudaStream(const CudaStreamPlan& plan, const Accelerator& device);

}  // namespace tunec
