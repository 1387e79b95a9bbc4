// Rows on a device: statements that share outer iterators and reduce along each row, as in softmax
// and normalisations. A short row has a part of a warp, and a long row has up to 1024 threads. A
// block computes several short rows at once.
//
//   grid.x: blocks of rows
//     rows of the block, one after the other
//       shared: m
//       block.y: rows at once, block.x: thread
//         chunks of the row: vector: m = combine(m, x[...])    partial results, combined by threads
//       registers: e                                           elements of each thread
//       block.y, block.x
//         chunks of the row: vector: e = exp(x[...] - m)
//       ...
//
// A thread has the same elements in all statements, in vectors of up to 16 bytes. The vectors of
// consecutive threads are contiguous. So values between two statements stay in registers, if the
// registers suffice.
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

constexpr int64_t kMostKept = 64;               // elements of a row buffer in a thread's registers
constexpr int64_t kMostSharedBytes = 32 << 10;  // bytes of a row buffer, for a block's rows
constexpr int64_t kMostInFlight = 8;            // loads of a thread in flight, initially
constexpr int64_t kMostThreads = 1024;

struct DeviceRowChoice {
  int64_t threads = 32;  // threads of a row
  int64_t vector = 4;    // contiguous elements of a thread
  int64_t chunks = 8;    // unrolled iterations of a loop along the row
  int64_t beside = 1;    // number of rows that a block computes at once
  int64_t rows = 1;      // number of times that a block does so
};

class DeviceRowWriter {
 public:
  DeviceRowWriter(const RowPlan& plan, const DeviceRowChoice& choice)
      : plan_(plan), choice_(choice) {
    const int64_t most = std::min(kMostThreads / choice_.threads, plan_.row_extents.back());
    choice_.beside = std::min(choice_.beside, most);
  }

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    Join();
    Block();
    Stage();
    for (const RowStatement& statement : plan_.statements) {
      if (statement.walks) Share(statement);
    }
    if (choice_.beside > 1) BindRows();
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }

  // Returns the innermost loop over rows of a statement. If `beside` > 1, the loop is split, and
  // BlockLoop is the outer part.
  std::string RowLoop(const std::string& statement) const {
    return statement + "." + plan_.row_loops.back();
  }
  std::string BlockLoop(const std::string& statement) const {
    return RowLoop(statement) + (choice_.beside > 1 ? ".0" : "");
  }

  void Join() {
    const std::string pivot = PivotOf(plan_);
    if (choice_.beside > 1) Add(SplitStep{RowLoop(pivot), {choice_.beside}});
    for (const RowStatement& statement : plan_.statements) {
      for (const std::string& part : PartsOf(statement)) {
        if (part != pivot) Add(ComputeAtStep{part, BlockLoop(pivot)});
      }
    }
  }

  void Block() {
    const std::string pivot = PivotOf(plan_);
    const std::string prefix = pivot + ".";
    std::vector<std::string> loops;
    for (const std::string& loop : plan_.row_loops) loops.push_back(prefix + loop);
    loops.back() = BlockLoop(pivot);
    row_loop_ = FuseAll(*plan_.compute, pivot, "rows", loops, schedule_);
    std::string blocks = row_loop_;
    if (choice_.rows > 1) {
      Add(SplitStep{row_loop_, {choice_.rows}});
      blocks = row_loop_ + ".0";
      row_loop_ += ".1";
    }
    Add(BindStep{blocks, LoopKind::kGridX});
  }

  // Stages single values of rows in shared storage. Stages row buffers in registers if Keeps
  // permits it, else in shared storage. A buffer that exceeds kMostSharedBytes stays in the
  // device's memory.
  void Stage() {
    for (const auto& [name, in_memory] : plan_.staged) {
      const Compute& compute = *plan_.compute;
      const Tensor& tensor = compute.tensors[*compute.FindTensor(name)];
      if (!HasElementsOfRow(plan_, tensor)) {
        Add(StageStep{name, Scope::kShared, row_loop_});
      } else if (Keeps(tensor.shape.back())) {
        Add(StageStep{name, Scope::kRegister, row_loop_});
      } else if (choice_.beside * tensor.shape.back() * static_cast<int64_t>(SizeOf(tensor.type)) <=
                 kMostSharedBytes) {
        Add(StageStep{name, Scope::kShared, row_loop_});
      }
    }
  }

  int64_t Chunks(int64_t length) const {
    return CeilDivide(CeilDivide(length, choice_.vector), choice_.threads);
  }

  // Returns true if each thread stores its elements of a row buffer in registers. The loops along
  // the row must then be unrolled completely, because registers have constant numbers.
  bool Keeps(int64_t length) const {
    const int64_t chunks = Chunks(length);
    return chunks <= choice_.chunks && chunks * choice_.vector <= kMostKept;
  }

  // Distributes the loop along the row over the threads, in vectors.
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

  void BindRows() {
    for (const RowStatement& statement : plan_.statements)
      for (const std::string& part : PartsOf(statement))
        Add(BindStep{RowLoop(part) + ".1", LoopKind::kBlockY});
  }

  const RowPlan& plan_;
  DeviceRowChoice choice_;
  std::string row_loop_;
  Schedule schedule_;
};

// Returns how many elements fit into 16 bytes, by the narrowest type of f32 and the rows in memory.
// The number is at most 8, and is halved until it divides the length of the longest row.
int64_t InitialVector(const RowPlan& plan) {
  constexpr int64_t kBytes = 16;
  constexpr int64_t kMost = 8;
  const int64_t length = LongestRow(plan);
  int64_t narrowest = SizeOf(DataType::kF32);
  for (const Tensor& tensor : plan.compute->tensors) {
    const bool is_row = !tensor.shape.empty() && tensor.shape.back() == length;
    if (is_row && tensor.role != TensorRole::kWorkspace)
      narrowest = std::min(narrowest, static_cast<int64_t>(SizeOf(tensor.type)));
  }
  int64_t vector = std::min(kMost, kBytes / narrowest);
  while (length % vector != 0) vector /= 2;
  return vector;
}

// Returns a number of threads, the least power of two for which all loads of a row are in flight at
// once. A short row has at least one thread for each of its vectors, up to a warp. The number is at
// most kMostThreads.
int64_t InitialThreads(int64_t length, int64_t vector) {
  const auto power = [](int64_t number) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(number)));
  };
  const int64_t wanted = power(CeilDivide(length, vector * kMostInFlight));
  const int64_t busy = std::clamp<int64_t>(power(CeilDivide(length, vector)), 2, kWarpThreads);
  return std::clamp(wanted, busy, kMostThreads);
}

// Returns the number of rows that a block computes at once, for up to 128 threads. If a row has
// more threads than a warp, the number is 1. The number is halved while the innermost loop over
// rows is shorter, or some processor would have no block.
int64_t InitialBeside(const RowPlan& plan, int64_t threads, const Accelerator& device) {
  constexpr int64_t kBlockThreads = 128;
  if (threads > kWarpThreads) return 1;
  const int64_t rows = CountRows(plan);
  int64_t beside = kBlockThreads / threads;
  while (beside > plan.row_extents.back()) beside /= 2;
  while (beside > 1 && rows < beside * device.processors) beside /= 2;
  return beside;
}

// Returns the number of groups of rows that a block computes one after the other. The number is
// doubled while a block has at most 4096 elements and each processor has at least 64 blocks. A
// group has `length` elements, and there are `rows` groups.
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

DeviceRowChoice Analytic(const RowPlan& plan, const Accelerator& device) {
  const int64_t length = LongestRow(plan);
  const int64_t rows = CountRows(plan);
  DeviceRowChoice choice{.vector = InitialVector(plan), .chunks = kMostInFlight};
  choice.threads = InitialThreads(length, choice.vector);
  choice.beside = InitialBeside(plan, choice.threads, device);
  choice.rows = InitialRows(rows / choice.beside, length * choice.beside, device);
  return choice;
}

Sketch RowSketch(const RowPlan& plan, const DeviceRowChoice& best, bool beside) {
  Knobs<DeviceRowChoice> knobs(best);
  knobs.AddAround("threads", {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, &DeviceRowChoice::threads);
  knobs.AddAround("vector", {1, 2, 4, 8}, &DeviceRowChoice::vector);
  knobs.AddAround("chunks", {1, 2, 4, 8, 16}, &DeviceRowChoice::chunks);
  if (beside) knobs.AddAround("beside", {1, 2, 4, 8, 16, 32, 64}, &DeviceRowChoice::beside);
  knobs.AddAround("rows", {1, 2, 4, 8, 16, 32, 64}, &DeviceRowChoice::rows);
  return MakeSketch("cuda_rows", std::move(knobs), [plan](const DeviceRowChoice& choice) {
    return DeviceRowWriter(plan, choice).Write();
  });
}

}  // namespace

void AddCudaRowSketches(const NamedCompute& lowering, const Accelerator& device,
                        const RoundingFreedom& rounding, std::vector<Sketch>& sketches) {
  const std::optional<RowPlan> plan = MakeRowPlan(lowering, RowReductions::kWhole);
  if (!plan) return;
  const auto in_order = [](const RowStatement& row) { return row.reduces && !row.reorderable; };
  if (std::ranges::any_of(plan->statements, in_order)) return;
  const auto applies = [&](const Schedule& schedule) {
    return CheckApplies(lowering.compute, schedule, rounding).has_value();
  };
  DeviceRowChoice best = Analytic(*plan, device);
  DeviceRowChoice several = best;
  several.beside = std::max<int64_t>(best.beside, 2);
  const bool beside =
      plan->row_extents.back() > 1 && applies(DeviceRowWriter(*plan, several).Write());
  if (!beside) best.beside = 1;
  Sketch sketch = RowSketch(*plan, best, beside);
  if (applies(sketch.Fill(sketch.InitialDecisions()))) sketches.push_back(std::move(sketch));
}

}  // namespace tunec
