// How a block of threads streams two products with work on the rows between them (cuda_stream.cc):
// what each statement does, what of the operands goes through shared storage, and how large the
// parts are.
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

/// What a statement does with a block's rows, besides the two products.
enum class StreamWork {
  kFirst,    // the product whose results are summed up by the other
  kLast,     // that one
  kQueries,  // rows by what the first product sums over
  kCells,    // rows by columns, each element by itself
  kColumns,  // a reduction of columns to a value for each row
  kRows,     // a value for each row
  kWidths,   // rows by widths, each element by itself
};

/// The operand of a product that every block of rows reads.
struct CudaStreamOperand {
  std::optional<CopyStep> copy;   // to shared storage, where a piece of it is a box
  std::string copied;             // the statement and the tensor that the step makes
  bool along_reduced = true;      // neighbours in memory are those that the product sums over
  int64_t bytes = 4;              // of an element
  int64_t chunk = 1;              // elements of up to 16 bytes that are copied together
  std::vector<std::string> ones;  // loops of the copy over dimensions of one element
  std::vector<int64_t> order;     // of the copy's dimensions, neighbours in memory last
};

struct CudaStreamPlan {
  StreamPlan stream;
  std::vector<StreamWork> work;  // by statement
  CudaStreamOperand keys;        // of the first product
  CudaStreamOperand values;      // of the last one

  StreamWork WorkOf(StatementId s) const { return work[s.index()]; }
  /// Whether all values of the tensor are used in the chunk that made them.
  bool StaysInChunk(TensorId tensor) const;
  /// Whether threads keep what they make of the tensor: nobody else reads it.
  bool IsPrivate(TensorId tensor) const;
};

/// None where a statement has another form than these. `lowering`: of which MakeStreamPlan has a
/// plan.
std::optional<CudaStreamPlan> MakeCudaStreamPlan(const NamedCompute& lowering);

/// A block's threads are column_threads by as many as have row_elements of its rows each.
struct CudaStreamChoice {
  int64_t column_threads = 16;
  int64_t row_elements = 2;
  int64_t depth_piece = 16;   // of the first product's sums, that is shared at once
  int64_t column_piece = 16;  // of the last one's
  int64_t stages = 2;         // pieces that are shared at once
};

/// Threads along the rows.
int64_t RowThreads(const CudaStreamPlan& plan, const CudaStreamChoice& choice);

/// Whether a warp has several rows, whose exponentials would come from the same banks of shared
/// storage.
bool RowsChangePlaces(const CudaStreamChoice& choice);

/// Neighbours among `extent` elements that a thread has, so that no thread has a part of them.
int64_t LanesOf(int64_t extent, const CudaStreamChoice& choice);

/// The choice with what this plan can't have made smaller.
CudaStreamChoice Fitted(const CudaStreamPlan& plan, CudaStreamChoice choice,
                        const Accelerator& device);

/// By occupancy, waves and bytes. Infinite where not even one block fits. Requires: a device with
/// all facts.
double EstimateSeconds(const CudaStreamPlan& plan, const CudaStreamChoice& choice,
                       const Accelerator& device);

/// The choice of which that says least. Requires: a device with all facts.
CudaStreamChoice BestCudaStream(const CudaStreamPlan& plan, const Accelerator& device);

}  // namespace tunec
