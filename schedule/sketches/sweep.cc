// Sweeps, or row-streaming reductions: sums that read an operand once, in long rows along the
// results. Examples are a product with one row, and a sum over a middle or the first axis.
//
// A register tile (tile.cc) keeps its results in registers. It reads a short part of each row of
// the operand, and the next row is on another page of memory. A sweep keeps a block of results in
// the first-level cache, and adds some rows at a time to the whole block. The hardware prefetches
// each of these rows.
//
//   parallel: kept rows, blocks of results
//     buffer: s[B] = 0
//     for some rows k at a time: for vectors v of the block:
//       s[v] += x[k] * operand[k][v], unrolled over these rows
//     results = f(s)
//
// A long sum is added in K-blocks (pieces.h), whose sums have a separate buffer.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/access_analysis.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {
namespace {

struct SweepChoice {
  int64_t rows = 8;      // rows of the operand that are added at a time
  int64_t vectors = 64;  // vectors in a block of results
  int64_t lanes = 16;    // elements of a vector
};

// Least number of vectors in a block. With shorter streams, a register tile is as fast.
constexpr int64_t kFewestVectors = 32;
// Largest number of vectors in a block. A block of sums and a block of a K-block's sums then take
// half of a small first-level cache.
constexpr int64_t kMostVectors = 128;

class SweepWriter {
 public:
  SweepWriter(const TilePlan& plan, const SweepChoice& choice) : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    if (plan_.cache_write) Add(*plan_.cache_write);
    if (plan_.pieces) Add(plan_.pieces->Step());
    Split();
    Reorder();
    Attach();
    for (const std::string& name : plan_.Writers())
      Add(VectorizeStep{name + ColumnSuffix() + ".2"});
    Add(UnrollStep{Rows() + ".1"});
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  std::string Column() const { return plan_.Loop(plan_.column); }
  std::string Block() const { return Column() + ".0"; }
  std::string Rows() const { return plan_.Loop(*plan_.long_reduction); }
  std::string ColumnSuffix() const { return "." + plan_.reduction.iterators[plan_.column].name; }

  void Split() {
    Add(SplitStep{Column(), {choice_.vectors, choice_.lanes}});
    const int64_t block = choice_.vectors * choice_.lanes;
    if (plan_.Extent(plan_.column) % block != 0) Add(IsolateStep{Block()});
    Add(SplitStep{Rows(), {choice_.rows}});
    if (plan_.LongSteps() % choice_.rows != 0) Add(IsolateStep{Rows() + ".0"});
  }

  void Reorder() {
    for (const VarId iterator : WrittenIterators(plan_.reduction)) {
      if (iterator != plan_.column) parallel_.push_back(plan_.Loop(iterator));
    }
    parallel_.push_back(Block());
    ReorderStep order{parallel_};
    if (plan_.pieces) order.loops.push_back(plan_.pieces->Loop());
    for (const VarId iterator : ReductionOrderOf(plan_)) {
      if (iterator != *plan_.long_reduction) order.loops.push_back(plan_.Loop(iterator));
    }
    order.loops.insert(order.loops.end(),
                       {Rows() + ".0", Column() + ".1", Rows() + ".1", Column() + ".2"});
    Add(std::move(order));
  }

  // Moves the other statements of the sum into the loop over blocks, and gives each block separate
  // buffers.
  void Attach() {
    if (plan_.pieces) AttachPieces(*plan_.pieces);
    Add(ComputeAtStep{plan_.Total() + ".init", Block()});
    for (const std::string& follower : plan_.followers) Add(ComputeAtStep{follower, Block()});
    Stage(plan_.reduction);
    for (const std::string& follower : plan_.followers) {
      Stage(plan_.compute->statements[*plan_.compute->FindStatement(follower)]);
    }
  }
  void AttachPieces(const Pieces& pieces) {
    JoinPieces(pieces, pieces.Loop(), schedule_);
    Add(StageStep{pieces.Sum(), Scope::kPacked, pieces.Loop()});
  }
  void Stage(const Statement& statement) {
    for (const tunec::Write& write : statement.writes) {
      const Tensor& tensor = plan_.compute->tensors[write.tensor];
      if (tensor.role != TensorRole::kWorkspace) continue;
      Add(StageStep{tensor.name, Scope::kPacked, Block()});
    }
  }

  const TilePlan& plan_;
  SweepChoice choice_;
  Schedule schedule_;
  std::vector<std::string> parallel_;
};

bool Sweeps(const TilePlan& plan, int64_t lanes) {
  if (StreamedOperands(plan).empty() || !plan.long_reduction) return false;
  if (plan.operand || !plan.before.empty() || plan.column_has_conditions) return false;
  return plan.Extent(plan.column) >= kFewestVectors * lanes;
}

// Returns the largest number of vectors in a block that leaves one block for each thread; else
// kFewestVectors.
int64_t VectorsFor(const TilePlan& plan, const Target& target, int64_t lanes) {
  const int64_t others = plan.ResultsOfColumn();
  for (int64_t vectors = kMostVectors; vectors > kFewestVectors; vectors /= 2) {
    const int64_t blocks = others * CeilDivide(plan.Extent(plan.column), vectors * lanes);
    if (blocks >= target.host.threads) return vectors;
  }
  return kFewestVectors;
}

Sketch SweepSketch(const TilePlan& plan, const Target& target, int64_t lanes) {
  SweepChoice fixed{.lanes = lanes};
  fixed.vectors = VectorsFor(plan, target, lanes);
  Knobs<SweepChoice> knobs(fixed);
  knobs.AddAround("rows", {2, 4, 8, 16}, &SweepChoice::rows);
  knobs.AddAround("vectors", {kFewestVectors, 64, kMostVectors}, &SweepChoice::vectors);
  return MakeSketch("sweep", std::move(knobs), [plan](const SweepChoice& choice) {
    return SweepWriter(plan, choice).Write();
  });
}

}  // namespace

void AddSweepSketches(const NamedCompute& lowering, const SketchQuestion& question, size_t first,
                      std::vector<Sketch>& sketches) {
  const Target& target = question.target;
  for (TilePlan& plan : MakeTilePlans(lowering, target)) {
    const Tensor& sums = plan.compute->tensors[plan.reduction.writes[0].tensor];
    const int64_t lanes = target.host.Lanes(static_cast<int>(SizeOf(sums.type)));
    if (!Sweeps(plan, lanes)) continue;
    CutLongSum(question.rounding, plan);
    // A register tile stores no sums, so it comes first for data that fits in the L2 cache.
    const bool far = CountWork(*plan.compute).bytes > static_cast<double>(target.host.l2_bytes);
    const auto place = far ? sketches.begin() + static_cast<std::ptrdiff_t>(first) : sketches.end();
    sketches.insert(place, SweepSketch(plan, target, lanes));
    return;
  }
}

}  // namespace tunec
