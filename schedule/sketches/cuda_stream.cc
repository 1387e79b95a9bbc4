// Flash attention on a device in one phase: two products, with work on the rows of the first
// product's results between them.
//
// A block of threads has a block of rows, and processes one KV block after the other. Each thread
// computes a tile of the KV block's scores in registers. The threads of a row combine their values
// to the row's maximum and to its sum of exponentials. The exponentials go through shared storage,
// because the second product sums over them. The tiles of the second product are in registers
// again, and so are the outputs that are carried between KV blocks. A thread has the same rows in
// all statements with several values per row. The keys and values of a KV block are copied to
// shared storage in K-blocks, with two stages.
//
//   grid: batches, heads, blocks of rows
//     shared: scaled rows, a few values for each row; registers: outputs o
//     for each KV block
//       registers: scores s[rows][columns] = 0
//         K-blocks of the depth, two stages
//           threads: copy the next K-block of the keys
//           threads: s += rows * keys
//       threads: scores = mask(s)
//       rows of a thread: threads of a row: maxima
//       threads: carried maxima and decays; exponentials, to shared storage
//       rows of a thread: threads of a row: sums
//       registers: w[rows][widths] = 0
//         K-blocks of the columns, two stages
//           threads: copy the next K-block of the values
//           threads: w += exponentials * values
//       threads: o = o * decay + w
//     threads: out = o / sums
#include "schedule/sketches/cuda_stream.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/apply.h"
#include "schedule/sketches/cuda_stream_plan.h"
#include "schedule/sketches/cuda_stream_writer.h"
#include "schedule/sketches/knobs.h"

namespace tunec {
namespace {

constexpr size_t kMostLowerings = 4;  // number of lowerings that get a sketch

Knobs<CudaStreamChoice> KnobsOf(const CudaStreamChoice& best) {
  Knobs<CudaStreamChoice> knobs(best);
  knobs.AddAround("column_threads", {8, 16, 32}, &CudaStreamChoice::column_threads);
  knobs.AddAround("row_elements", {1, 2, 3, 4, 6, 8}, &CudaStreamChoice::row_elements);
  knobs.AddAround("depth_piece", {8, 16, 32, 64}, &CudaStreamChoice::depth_piece);
  knobs.AddAround("column_piece", {8, 16, 32, 64}, &CudaStreamChoice::column_piece);
  knobs.AddAround("stages", {1, 2}, &CudaStreamChoice::stages);
  return knobs;
}

struct Candidate {
  CudaStreamPlan plan;
  CudaStreamChoice best;
  double seconds = 0;
};

}  // namespace

std::vector<EstimatedSketch> MakeCudaStreamSketches(const std::vector<NamedCompute>& lowerings,
                                                    const Accelerator& device,
                                                    const RoundingFreedom& rounding) {
  std::vector<Candidate> candidates;
  for (const NamedCompute& lowering : lowerings) {
    std::optional<CudaStreamPlan> plan = MakeCudaStreamPlan(lowering);
    if (!plan) continue;
    const CudaStreamChoice best = BestCudaStream(*plan, device);
    const double seconds = EstimateSeconds(*plan, best, device);
    if (std::isfinite(seconds)) candidates.push_back({*std::move(plan), best, seconds});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::seconds);
  std::vector<EstimatedSketch> sketches;
  for (const Candidate& candidate : candidates) {
    if (sketches.size() == kMostLowerings) break;
    const Schedule initial = WriteCudaStream(candidate.plan, candidate.best);
    if (!CheckApplies(*candidate.plan.stream.compute, initial, rounding)) continue;
    Sketch sketch = MakeSketch("cuda_stream", KnobsOf(candidate.best),
                               [plan = candidate.plan, device](const CudaStreamChoice& choice) {
                                 return WriteCudaStream(plan, Fitted(plan, choice, device));
                               });
    sketches.push_back({std::move(sketch), candidate.seconds});
  }
  return sketches;
}

}  // namespace tunec
