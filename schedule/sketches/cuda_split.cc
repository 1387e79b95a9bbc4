// Sums in parts. Each part has separate storage for its partial sums, so no two blocks write the
// same element. The partial sums are added in order, so each run computes the same bits.
//
//   grid: parts, tiles of outputs          the partial sums (cuda_tile.cc, cuda_conv.cc)
//     acc.part[part, ...] = the sum over one part
//   grid: outputs                          a short sum (cuda_elements.cc, blocks.cc)
//     acc = acc.part[0, ...] + acc.part[1, ...] + ...
//     followers
#include "schedule/sketches/cuda_split.h"

#include <algorithm>
#include <utility>

#include "schedule/access_analysis.h"
#include "schedule/sketches/device_cost.h"
#include "schedule/sketches/sub_compute.h"
#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

constexpr int64_t kMostParts = 64;

// Returns the step that sets the storage order of the partial sums: the parts outermost, the column
// innermost. The other dimensions have the order of the sum's tensor.
PackStep OrderOf(const Compute& compute, const Statement& sum, VarId column) {
  const Write& write = sum.writes[0];
  std::vector<VarId> order = InStorageOrder(compute, sum, write, WrittenIterators(sum));
  std::erase(order, column);
  order.push_back(column);
  PackStep pack{.tensor = sum.name + ".part"};
  const auto add = [&](size_t dimension) {
    pack.axes.push_back({.dimension = static_cast<int>(dimension)});
  };
  add(write.index.size());
  for (size_t d = 0; d < write.index.size(); ++d)
    if (write.index[d].IsConstant()) add(d);
  for (const VarId v : order)
    for (size_t d = 0; d < write.index.size(); ++d)
      if (write.index[d].AsVar() == v) add(d);
  return pack;
}

// Returns the estimated time to store the partial sums and to add them.
double SecondsOf(const Compute& compute, const Statement& sum, int64_t count,
                 const Accelerator& device) {
  constexpr int64_t kThreads = 256;
  constexpr int64_t kWarps = kThreads / kWarpThreads;
  constexpr double kLoadClocks = 4;  // clocks of a warp's load, with its addresses
  int64_t outputs = 1;
  for (const VarId v : WrittenIterators(sum)) outputs *= sum.iterators[v].extent;
  const auto bytes = static_cast<double>(SizeOf(compute.tensors[sum.writes[0].tensor].type));
  const auto parts = static_cast<double>(count);
  PhaseCost cost{.blocks = CeilDivide(outputs, kThreads), .use = {.threads = kThreads}};
  cost.clocks = parts * kLoadClocks * static_cast<double>(kWarps);
  cost.l2_bytes = parts * bytes * static_cast<double>(kThreads);
  cost.memory_bytes = parts * bytes * static_cast<double>(outputs);
  const double storing = cost.memory_bytes / static_cast<double>(device.bytes_per_second);
  return storing + EstimateSeconds(cost, device);
}

std::optional<DevicePhase> AddingPhase(const PhaseQuestion& question) {
  std::optional<DevicePhase> phase = MakeCudaElementsPhase(question);
  return phase ? std::move(phase) : MakeBlockPhase(question);
}

}  // namespace

std::vector<int64_t> PartCounts(int64_t length, int64_t least) {
  std::vector<int64_t> counts;
  for (int64_t count = 2; count <= std::min(kMostParts, length / least);) {
    if (length % count == 0) counts.push_back(count);
    count = length % count == 0 ? 2 * count : count + 1;
  }
  return counts;
}

std::vector<int64_t> PartLengths(int64_t length, int64_t least, int64_t multiple) {
  std::vector<int64_t> lengths;
  for (int64_t count = 2; count <= std::min(kMostParts, length / least); count *= 2) {
    const int64_t part = CeilDivide(CeilDivide(length, count), multiple) * multiple;
    const bool is_new = lengths.empty() ? part < length : part < lengths.back();
    if (is_new) lengths.push_back(part);
  }
  return lengths;
}

std::optional<SumParts> SplitSum(const PhaseQuestion& question, VarId reduced, VarId column,
                                 int64_t length) {
  if (question.rounding.order != ReductionOrder::kAny) return std::nullopt;
  const Compute& compute = question.compute;
  const Statement& sum = compute.statements.front();
  const Iterator& iterator = sum.iterators[reduced];
  const int64_t count = CeilDivide(iterator.extent, length);
  const ReduceSplitStep split{sum.name, iterator.name, length, ReduceSplitStep::Parallel::kOuter};
  const PackStep pack = OrderOf(compute, sum, column);
  Result<Compute> whole = Apply(compute, split);
  if (whole) whole = Apply(*whole, pack);
  if (!whole) return std::nullopt;
  const StatementId adding(1);
  const Compute rest = StatementsOf(*whole, adding, StatementId(whole->statements.size()));
  std::optional<DevicePhase> phase =
      AddingPhase({.compute = rest, .device = question.device, .rounding = question.rounding});
  if (!phase) return std::nullopt;
  return SumParts{.count = count,
                  .steps = {split, pack},
                  .partial = StatementsOf(*whole, StatementId(0), adding),
                  .adding = *std::move(phase),
                  .loop = sum.name + "." + iterator.name + "p",
                  .seconds = SecondsOf(compute, sum, count, question.device)};
}

}  // namespace tunec
