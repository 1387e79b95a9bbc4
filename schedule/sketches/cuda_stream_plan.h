// The plan of a block of threads for two products with work on the rows between them
// (cuda_stream.cc): the work of each statement, the operands in shared storage, and the sizes of
// the parts.
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

/// The work of a statement on a block's rows, besides the two products.
enum class StreamWork {
  kFirst,    // the first product; the last product sums its results
  kLast,     // the last product
  kQueries,  // rows x the dimension that the first product sums over
  kCells,    // rows x columns, elementwise
  kColumns,  // a reduction of columns to one value per row
  kRows,     // one value per row
  kWidths,   // rows x widths, elementwise
};

/// The operand of a product that every block of rows reads.
struct CudaStreamOperand {
  std::optional<CopyStep> copy;   // copy to shared storage, if a K-block of it is a rectangular
                                  // slice
  std::string copied;             // name of the statement and of the tensor that the step makes
  bool along_reduced = true;      // contiguous along the dimension that the product sums over
  int64_t bytes = 4;              // size of an element
  int64_t chunk = 1;              // number of elements (at most 16 bytes) that are copied together
  std::vector<std::string> ones;  // loops of the copy over dimensions of one element
  std::vector<int64_t> order;     // order of the copy's dimensions, the contiguous one last
};

struct CudaStreamPlan {
  StreamPlan stream;
  std::vector<StreamWork> work;  // by statement
  CudaStreamOperand keys;        // operand of the first product
  CudaStreamOperand values;      // operand of the last product

  StreamWork WorkOf(StatementId s) const { return work[s.index()]; }
  /// Checks that all values of the tensor are used only in the KV block of their computation.
  bool StaysInChunk(TensorId tensor) const;
  /// Checks that each value of the tensor is read only by the thread that computes it.
  bool IsPrivate(TensorId tensor) const;
};

/// Returns nothing if a statement has another form. Requires: MakeStreamPlan has a plan for
/// `lowering`.
std::optional<CudaStreamPlan> MakeCudaStreamPlan(const NamedCompute& lowering);

/// The sizes of a block's work. A block has column_threads threads for each group of row_elements
/// rows.
struct CudaStreamChoice {
  int64_t column_threads = 16;
  int64_t row_elements = 2;
  int64_t depth_piece = 16;   // K-block of the first product's sums that is shared at once
  int64_t column_piece = 16;  // K-block of the last product's sums
  int64_t stages = 2;         // number of K-blocks that are shared at once
};

/// Returns the number of threads along the rows.
int64_t RowThreads(const CudaStreamPlan& plan, const CudaStreamChoice& choice);

/// Checks that a warp has several rows, whose exponentials would be in the same banks of shared
/// storage.
bool RowsChangePlaces(const CudaStreamChoice& choice);

/// Returns the number of neighbours, among `extent` elements, that one thread has. The number
/// divides the work evenly.
int64_t LanesOf(int64_t extent, const CudaStreamChoice& choice);

/// Returns the choice, reduced to sizes that the plan and the device allow.
CudaStreamChoice Fitted(const CudaStreamPlan& plan, CudaStreamChoice choice,
                        const Accelerator& device);

/// Returns the estimated time by occupancy, waves and bytes; infinite if not even one block fits.
/// Requires: a device with all facts.
double EstimateSeconds(const CudaStreamPlan& plan, const CudaStreamChoice& choice,
                       const Accelerator& device);

/// Returns the choice with the least estimated time. Requires: a device with all facts.
CudaStreamChoice BestCudaStream(const CudaStreamPlan& plan, const Accelerator& device);

}  // namespace tunec
