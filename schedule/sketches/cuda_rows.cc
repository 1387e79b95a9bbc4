// Rows on a device: statements that share outer iterators and reduce along one row after the other,
// as softmax and normalisations do. A block of threads computes whole rows: one warp of short ones,
// up to a thousand threads of long ones.
//
//   grid.x: blocks of rows
//     rows of the block
//     shared: m
//     block.x: thread                    m, each thread its part, which all combine
//       chunks of the row: vector: m = combine(m, x[...])
//     registers: e                       each thread its elements
//     block.x: thread
//       chunks of the row: vector: e = exp(x[...] - m)
//     ...
//
// A thread takes the same elements of each statement, in vectors that lie side by side with its
// neighbours', so that what one leaves for the next stays in its registers while these suffice.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/apply.h"
#include "schedule/sketches/device_loops.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/row_plan.h"
#include "schedule/sketches/sketches.h"

namespace tunec {
namespace {

// What a thread keeps of one row buffer, and of a block's rows in shared storage, at most.
constexpr int64_t kMostKept = 64;
constexpr int64_t kMostSharedBytes = 32 << 10;
constexpr int64_t kMostInFlight = 8;  // loads of a thread
constexpr int64_t kMostThreads = 1024;

struct DeviceRowChoice {
  int64_t threads = 32;  // of a row
  int64_t vector = 4;    // elements that a thread takes side by side
  int64_t chunks = 8;    // that a loop along the row unrolls
  int64_t rows = 1;      // that a block computes one after the other
};

class DeviceRowWriter {
 public:
  DeviceRowWriter(const RowPlan& plan, const DeviceRowChoice& choice)
      : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    Join();
    Block();
    Stage();
    for (const RowStatement& statement : plan_.statements) {
      if (statement.walks) Share(statement);
    }
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }

  void Join() {
    const std::string pivot = PivotOf(plan_);
    for (const RowStatement& statement : plan_.statements) {
      for (const std::string& part : PartsOf(statement)) {
        if (part != pivot) Add(ComputeAtStep{part, pivot + "." + plan_.row_loops.back()});
      }
    }
  }

  void Block() {
    const std::string pivot = PivotOf(plan_);
    const std::string prefix = pivot + ".";
    std::vector<std::string> loops;
    for (const std::string& loop : plan_.row_loops) loops.push_back(prefix + loop);
    row_loop_ = FuseAll(*plan_.compute, pivot, "rows", loops, schedule_);
    std::string blocks = row_loop_;
    if (choice_.rows > 1) {
      Add(SplitStep{row_loop_, {choice_.rows}});
      blocks = row_loop_ + ".0";
      row_loop_ += ".1";
    }
    Add(BindStep{blocks, LoopKind::kGridX});
  }

  // What is left where it is lies in the device's memory.
  void Stage() {
    for (const auto& [name, in_memory] : plan_.staged) {
      const Compute& compute = *plan_.compute;
      const Tensor& tensor = compute.tensors[*compute.FindTensor(name)];
      if (tensor.shape.size() <= plan_.row_loops.size()) {
        Add(StageStep{name, Scope::kShared, row_loop_});
      } else if (Keeps(tensor.shape.back())) {
        Add(StageStep{name, Scope::kRegister, row_loop_});
      } else if (tensor.shape.back() * static_cast<int64_t>(SizeOf(tensor.type)) <=
                 kMostSharedBytes) {
        Add(StageStep{name, Scope::kShared, row_loop_});
      }
    }
  }

  int64_t Chunks(int64_t length) const {
    return CeilDivide(CeilDivide(length, choice_.vector), choice_.threads);
  }

  // Whether each thread has its elements of a row buffer in registers: their numbers have to be
  // constants.
  bool Keeps(int64_t length) const {
    const int64_t chunks = Chunks(length);
    return chunks <= choice_.chunks && chunks * choice_.vector <= kMostKept;
  }

  // The loop along the row, shared out.
  void Share(const RowStatement& statement) {
    std::string loop = statement.name + "." + statement.along;
    if (choice_.vector > 1) {
      Add(SplitStep{loop, {choice_.vector}});
      Add(VectorizeStep{loop + ".1"});
      loop += ".0";
    }
    Add(SplitStep{loop, {choice_.threads}});
    const std::string chunks = loop + ".0";
    const std::string threads = loop + ".1";
    Add(ReorderStep{{threads, chunks}});
    Add(BindStep{threads, LoopKind::kBlockX});
    const int64_t count = Chunks(statement.length);
    if (count == 1) return;
    if (CeilDivide(statement.length, choice_.vector) % choice_.threads != 0) {
      Add(IsolateStep{chunks});
    }
    Add(UnrollStep{chunks, count <= choice_.chunks ? 0 : static_cast<int>(choice_.chunks)});
  }

  const RowPlan& plan_;
  DeviceRowChoice choice_;
  std::string row_loop_;
  Schedule schedule_;
};

Knob KnobOf(const char* name, std::vector<int64_t> choices, int64_t initial) {
  const auto found = std::ranges::find(choices, initial);
  const auto place = found == choices.end() ? 0 : static_cast<int>(found - choices.begin());
  return {.name = name, .choices = std::move(choices), .initial = place};
}

// As wide as loads of 16 bytes of float32 are, where rows begin at multiples of them.
int64_t InitialVector(int64_t length) { return length % 4 == 0 ? 4 : length % 2 == 0 ? 2 : 1; }

// As few as have their part of a row in flight at once: a warp of rows up to a thousand elements.
int64_t InitialThreads(int64_t length, int64_t vector) {
  const int64_t wanted = CeilDivide(length, vector * kMostInFlight);
  return std::clamp(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted))),
                    kWarpThreads, kMostThreads);
}

// Several rows of a block where each is little work, as long as all processors have blocks enough.
int64_t InitialRows(int64_t rows, int64_t length, const Accelerator& device) {
  constexpr int64_t kElements = 4096;
  constexpr int64_t kBlocksOfProcessor = 64;
  int64_t together = 1;
  while (2 * together * length <= kElements &&
         rows / (2 * together) >= kBlocksOfProcessor * device.processors) {
    together *= 2;
  }
  return together;
}

}  // namespace

void AddCudaRowSketches(const NamedCompute& lowering, const Accelerator& device,
                        const RoundingFreedom& rounding, std::vector<Sketch>& sketches) {
  const std::optional<RowPlan> plan = MakeRowPlan(lowering, RowReductions::kWhole);
  if (!plan) return;
  const auto in_order = [](const RowStatement& row) { return row.reduces && !row.reorderable; };
  if (std::ranges::any_of(plan->statements, in_order)) return;
  const int64_t length = LongestRow(*plan);
  const int64_t vector = InitialVector(length);
  Knobs<DeviceRowChoice> knobs;
  knobs.Add(KnobOf("threads", {32, 64, 128, 256, 512, 1024}, InitialThreads(length, vector)),
            &DeviceRowChoice::threads);
  knobs.Add(KnobOf("vector", {1, 2, 4, 8}, vector), &DeviceRowChoice::vector);
  knobs.Add(KnobOf("chunks", {1, 2, 4, 8, 16}, kMostInFlight), &DeviceRowChoice::chunks);
  knobs.Add(KnobOf("rows", {1, 2, 4, 8, 16, 32, 64}, InitialRows(CountRows(*plan), length, device)),
            &DeviceRowChoice::rows);
  Sketch sketch =
      MakeSketch("cuda_rows", std::move(knobs), [plan = *plan](const DeviceRowChoice& choice) {
        return DeviceRowWriter(plan, choice).Write();
      });
  const Schedule initial = sketch.Fill(sketch.InitialDecisions());
  if (CheckApplies(lowering.compute, initial, rounding)) sketches.push_back(std::move(sketch));
}

}  // namespace tunec
