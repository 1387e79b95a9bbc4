// Products between transforms: planes of sums that a statement combines afterwards, as Winograd's
// convolutions have them.
//
// A task takes a block of rows (tiles of the image). It transforms what the rows read, for all that
// is reduced, into a buffer of its own; then, panel of columns by panel, it computes all planes of
// sums in register tiles, and combines them, with what follows, while they are in its cache. Where
// blocks are too few for the threads, the rows are transformed in a phase of their own, and the
// panels are tasks, too.
//
//   parallel: batches, blocks of rows
//     operand[all planes][rows of the block][all reduced] = transform
//     column panels
//       planes
//         row tiles of the block
//           registers: acc[MR][NR] = sum of operand * weight
//       rows of the block
//         outputs = combined planes
//
// Long sums are added in pieces (pieces.h): the planes begin at zero, and the register tiles of one
// piece after the other are added to them.
//
// Where the contract and the target allow it, both operands are rounded to bfloat16 as they are
// transformed, and an instruction multiplies pairs of reduced neighbours, which lie side by side.
#include <algorithm>
#include <iterator>

#include "schedule/access_analysis.h"
#include "schedule/sketches/dot_plan.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/tile_cost.h"
#include "schedule/sketches/transformed_error.h"
#include "schedule/sketches/transformed_plan.h"

namespace tunec {
namespace {

struct TransformedChoice {
  int64_t rows = 1;
  int64_t columns = 16;
  int64_t block = 1;  // tiles of rows
  int64_t unroll = 4;
  bool by_block = true;  // the operand is transformed by the tasks that multiply it
  int64_t lanes = 16;    // no knob
};

// Writes the steps for one choice.
class TransformedWriter {
 public:
  TransformedWriter(const TransformedPlan& plan, const TransformedChoice& choice)
      : plan_(plan), choice_(choice), sum_(plan.sum.name) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    if (plan_.dot != nullptr) {
      for (const std::string& operand : {plan_.operand, plan_.weight}) {
        Add(NarrowStep{operand, sum_});
      }
    }
    if (plan_.pieces) {
      Add(plan_.pieces->Step());
    } else {
      Add(CacheWriteStep{sum_});
    }
    Add(Pack());
    Split();
    Reorder();
    AttachOperand();
    AttachSums();
    AttachBack();
    Stage();
    if (plan_.dot != nullptr) SplitGroups();
    Finish();
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  std::string Row(const char* part) const { return plan_.Loop(plan_.row) + part; }
  std::string Panels() const { return plan_.Loop(plan_.column) + ".0"; }
  // Where the vectors of combined planes are computed.
  std::string BackLoop() const { return plan_.back + plan_.Suffix(plan_.column) + ".1.0"; }

  // The reduced neighbours that one instruction takes.
  int64_t Group() const { return plan_.dot != nullptr ? plan_.dot->Extent(TileAxis::kGroup) : 1; }

  // A panel has what a task reads while it walks the planes; groups of reduced neighbours side by
  // side.
  PackStep Pack() const {
    PackStep pack{.tensor = plan_.weight};
    int column = 0;
    int reduced = 0;
    for (size_t d = 0; d < plan_.weight_index.size(); ++d) {
      const std::optional<VarId> iterator = plan_.weight_index[d].AsVar();
      const auto dimension = static_cast<int>(d);
      if (iterator == plan_.column) {
        column = dimension;
      } else if (iterator == plan_.reduced && Group() > 1) {
        reduced = dimension;
        pack.axes.push_back({dimension, PackStep::Part::kQuotient, Group()});
      } else {
        pack.axes.push_back({.dimension = dimension});
      }
    }
    pack.axes.insert(
        pack.axes.begin(),
        {.dimension = column, .part = PackStep::Part::kQuotient, .factor = choice_.columns});
    pack.axes.push_back(
        {.dimension = column, .part = PackStep::Part::kRemainder, .factor = choice_.columns});
    if (Group() > 1) pack.axes.push_back({reduced, PackStep::Part::kRemainder, Group()});
    return pack;
  }
  void Split() {
    Add(SplitStep{plan_.Loop(plan_.column), {choice_.columns}});
    if (plan_.Extent(plan_.column) % choice_.columns != 0) Add(IsolateStep{Panels()});
    Add(SplitStep{Row(""), {choice_.block, choice_.rows}});
    if (plan_.Extent(plan_.row) % (choice_.rows * choice_.block) != 0) {
      Add(IsolateStep{Row(".0")});
      Add(IsolateStep{Row(".1")});
    }
  }
  void Reorder() {
    ReorderStep order;
    const auto add = [&](const std::string& loop) { order.loops.push_back(loop); };
    for (const VarId v : plan_.outer_rows) add(plan_.Loop(v));
    if (!choice_.by_block) add(Panels());
    add(Row(".0"));
    parallel_ = order.loops;
    if (choice_.by_block) add(Panels());
    add(plan_.Loop(plan_.plane));
    add(Row(".1"));
    if (plan_.pieces) add(plan_.pieces->Loop());
    add(plan_.Loop(plan_.reduced));
    add(Row(".2"));
    add(plan_.Loop(plan_.column) + ".1");
    Add(std::move(order));
  }
  // The last of the loops that run one after the other around the planes.
  std::string PanelLoop() const { return choice_.by_block ? Panels() : Row(".0"); }

  void AttachOperand() {
    std::string vector = plan_.producer_vector;
    if (choice_.by_block) {
      Add(ComputeAtStep{plan_.producer, Row(".0")});
      // Called after the sum's iterator, but where that is cut.
      if (!plan_.pieces) vector = plan_.producer + plan_.Suffix(plan_.reduced);
    }
    Add(SplitStep{vector, {choice_.lanes}});
    if (plan_.Extent(plan_.reduced) % choice_.lanes != 0) Add(IsolateStep{vector + ".0"});
    if (choice_.by_block) {
      const std::string row = plan_.producer + plan_.Suffix(plan_.row);
      Add(ReorderStep{{row + ".1", row + ".2", vector + ".0", vector + ".1"}});
    } else {
      ReorderStep order{plan_.producer_outer};
      order.loops.push_back(vector + ".0");
      order.loops.push_back(vector + ".1");
      Add(std::move(order));
    }
    producer_vector_ = vector + ".1";
  }
  void AttachSums() {
    if (!plan_.pieces) {
      Add(ComputeAtStep{sum_ + ".init", Row(".1")});
      Add(ComputeAtStep{sum_ + ".store", Row(".1")});
      return;
    }
    const Pieces& pieces = *plan_.pieces;
    JoinPieces(pieces, pieces.Loop(), schedule_);
    Add(ComputeAtStep{pieces.total + ".init", Row(".1")});
  }
  // In vectors, each with what follows it.
  void AttachBack() {
    Add(ComputeAtStep{plan_.back, PanelLoop()});
    const std::string columns = plan_.back + plan_.Suffix(plan_.column) + ".1";
    Add(SplitStep{columns, {choice_.lanes}});
    if (plan_.Extent(plan_.column) % choice_.lanes != 0) Add(IsolateStep{columns + ".0"});
    Add(ReorderStep{{plan_.back + "." + Row(".1"), plan_.back + plan_.Suffix(plan_.row) + ".2",
                     columns + ".0", columns + ".1"}});
    for (const TransformedPlan::Follower& follower : plan_.followers) {
      Add(ComputeAtStep{follower.name, BackLoop()});
      ReorderStep order{follower.loops};
      order.loops.push_back(VectorOf(follower.name));
      if (order.loops.size() > 1) Add(std::move(order));
    }
  }
  std::string VectorOf(const std::string& statement) const {
    return statement + plan_.Suffix(plan_.column) + ".1.1";
  }
  void Stage() {
    const auto tensor = [&](const std::string& statement) {
      const StatementId id = *plan_.compute->FindStatement(statement);
      return plan_.compute->tensors[plan_.compute->statements[id].writes[0].tensor].name;
    };
    if (plan_.pieces) {
      Add(StageStep{sum_, Scope::kRegister, plan_.pieces->Loop()});
    } else {
      Add(StageStep{tensor(sum_), Scope::kRegister, Row(".1")});
    }
    for (const std::string& name : plan_.registers) {
      Add(StageStep{name, Scope::kRegister, BackLoop()});
    }
    Add(StageStep{tensor(plan_.Total() + ".store"), Scope::kPacked, PanelLoop()});
    if (!choice_.by_block) return;
    StageStep operand{plan_.operand, Scope::kPacked, Row(".0")};
    const size_t rank =
        plan_.compute->tensors[*plan_.compute->FindTensor(plan_.operand)].shape.size();
    for (size_t d = 0; d < rank; ++d) operand.order.push_back(static_cast<int>(d));
    Add(std::move(operand));
  }
  std::vector<std::string> SumStatements() const {
    if (!plan_.pieces) return {sum_ + ".init", sum_, sum_ + ".store"};
    return {sum_ + ".init", sum_, plan_.pieces->total + ".init", plan_.pieces->total};
  }
  // Vectors of the instruction's columns, and groups of what is reduced.
  void SplitGroups() {
    const std::string columns = plan_.Suffix(plan_.column) + ".1";
    for (const std::string& name : SumStatements()) {
      Add(SplitStep{name + columns, {plan_.dot->Extent(TileAxis::kColumn)}});
    }
    const std::string vectors = sum_ + columns;
    Add(IsolateStep{vectors + ".0"});
    const std::string reduced = plan_.Loop(plan_.reduced);
    Add(SplitStep{reduced, {Group()}});
    Add(ReorderStep{{reduced + ".0", Row(".2"), vectors + ".0", reduced + ".1", vectors + ".1"}});
    Add(TensorizeStep{reduced + ".1", plan_.dot->name});
  }
  void Finish() {
    for (const std::string& name : SumStatements()) {
      Add(UnrollStep{name + plan_.Suffix(plan_.row) + ".2"});
      const std::string columns = name + plan_.Suffix(plan_.column) + ".1";
      if (plan_.dot != nullptr) Add(UnrollStep{columns + ".0"});
      Add(VectorizeStep{columns + (plan_.dot != nullptr ? ".1" : "")});
    }
    if (choice_.unroll > 1) {
      const std::string reduced = plan_.Loop(plan_.reduced) + (plan_.dot != nullptr ? ".0" : "");
      Add(UnrollStep{reduced, static_cast<int>(choice_.unroll)});
    }
    Add(VectorizeStep{producer_vector_});
    Add(VectorizeStep{VectorOf(plan_.back)});
    for (const TransformedPlan::Follower& follower : plan_.followers) {
      for (const std::string& loop : follower.loops) Add(UnrollStep{loop});
      Add(VectorizeStep{VectorOf(follower.name)});
    }
    for (const std::string& loop : parallel_) Add(ParallelizeStep{loop});
    if (choice_.by_block) return;
    for (const std::string& loop : plan_.producer_outer) Add(ParallelizeStep{loop});
  }

  const TransformedPlan& plan_;
  TransformedChoice choice_;
  std::string sum_;
  Schedule schedule_;
  std::vector<std::string> parallel_;
  std::string producer_vector_;
};

// A panel of weights has all planes: where it is narrow, the block of rows stays in the cache.
constexpr int64_t kPanelVectors = 2;
constexpr int64_t kMostRows = 15;  // of a tile, to begin with

// Planes of a block lie as far apart as its rows are long together. With an odd number of rows
// these are not all the same set of the first cache. Of the two odd numbers beside an even one the
// greater, if it fits and is cheaper: few rows have fewer sums than a sum waits for.
TileSizes TileOf(const TransformedPlan& plan, const Target& target, int64_t lanes) {
  const int64_t rows = plan.Extent(plan.row);
  const int64_t columns = plan.Extent(plan.column);
  TileSizes tile = BestTile(rows, columns, target, lanes, kPanelVectors, BroadcastOf(plan));
  const int64_t most =
      std::min({rows, kMostRows, MostRows(target, tile.columns / lanes, BroadcastOf(plan))});
  TileSizes more{.rows = std::min(tile.rows / 2 * 2 + 1, kMostRows), .columns = tile.columns};
  tile.rows = std::min((tile.rows - 1) / 2 * 2 + 1, kMostRows);
  const auto cost = [&](const TileSizes& t) { return TilingCost(rows, columns, t, lanes); };
  return more.rows <= most && IsCheaper(cost(more), cost(tile)) ? more : tile;
}

int64_t OuterRows(const TransformedPlan& plan) {
  int64_t rows = 1;
  for (const VarId v : plan.outer_rows) rows *= plan.Extent(v);
  return rows;
}

// Tiles of rows to a block: half of the second-level cache for what is transformed of them and
// their planes of sums, and enough tasks for every thread.
int64_t DefaultBlock(const TransformedPlan& plan, const Target& target, const TileSizes& tile,
                     int64_t tasks_of_block) {
  const int64_t tiles = CeilDivide(plan.Extent(plan.row), tile.rows);
  const auto operand = static_cast<int64_t>(SizeOf(plan.dot ? DataType::kBF16 : DataType::kF32));
  const int64_t bytes =
      tile.rows * plan.Extent(plan.plane) *
      (plan.Extent(plan.reduced) * operand + tile.columns * static_cast<int64_t>(sizeof(float)));
  int64_t block = std::clamp<int64_t>(target.host.l2_bytes / 2 / bytes, 1, tiles);
  while (block > 1 && CeilDivide(tiles, block) * tasks_of_block < 4 * target.host.threads) {
    block /= 2;
  }
  return block > 1 ? block - (block + 1) % 2 : block;
}

std::string NameOf(const TransformedPlan& plan) {
  if (plan.dot == nullptr) return "transformed";
  return "transformed/" + plan.dot->name.substr(0, plan.dot->name.find('.'));
}

Sketch TransformedSketch(const TransformedPlan& plan, const Target& target, int64_t lanes) {
  const TileSizes tile = TileOf(plan, target, lanes);
  const int64_t tiles = CeilDivide(plan.Extent(plan.row), tile.rows);
  const bool by_block = OuterRows(plan) * tiles >= 4 * target.host.threads;
  const int64_t panels = CeilDivide(plan.Extent(plan.column), tile.columns);
  const int64_t block = DefaultBlock(plan, target, tile, OuterRows(plan) * (by_block ? 1 : panels));
  Knobs<TransformedChoice> knobs({.lanes = lanes});
  knobs.Add(KnobNear("rows", RowChoices(plan.Extent(plan.row)), tile.rows),
            &TransformedChoice::rows);
  knobs.Add(KnobNear("columns", {lanes, 2 * lanes, 3 * lanes, 4 * lanes}, tile.columns),
            &TransformedChoice::columns);
  knobs.Add(KnobNear("block", {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32}, block),
            &TransformedChoice::block);
  knobs.Add(KnobNear("unroll", {1, 2, 4, 8}, 4), &TransformedChoice::unroll);
  knobs.Add(KnobNear("by_block", {0, 1}, by_block ? 1 : 0), &TransformedChoice::by_block);
  const auto write = [plan, target, lanes](TransformedChoice choice) {
    // More accumulators than registers spill: the nearest tile that fits stands for them.
    const int64_t most = MostRows(target, choice.columns / lanes, BroadcastOf(plan));
    choice.rows = std::clamp<int64_t>(most, 1, choice.rows);
    const int64_t group = plan.dot != nullptr ? plan.dot->Extent(TileAxis::kGroup) : 1;
    choice.unroll = std::min(choice.unroll, plan.Extent(plan.reduced) / group);
    return TransformedWriter(plan, choice).Write();
  };
  return MakeSketch(NameOf(plan), std::move(knobs), write);
}

// How fast the threads together read weights, which every run reads once.
constexpr double kWeightBytesPerCycle = 10;

double WeightBytes(const Compute& compute, const Statement& sum) {
  double bytes = 0;
  for (const Read& read : sum.reads) {
    const Tensor& tensor = compute.tensors[read.tensor];
    if (tensor.constant) bytes += static_cast<double>(StorageBytes(tensor));
  }
  return bytes;
}

// Cycles of a run, as far as they differ between lowerings: `work` is in vector instructions.
double Cycles(double work, double weight_bytes, const Target& target) {
  return work / static_cast<double>(target.host.threads) + weight_bytes / kWeightBytesPerCycle;
}

// The loads and stores of transforms run beside each other and beside arithmetic. They take 0.45 to
// 0.65 of the cycles that TransformCost counts (measured for 16 to 96 channels, Zen 4).
constexpr double kCyclesPerAccess = 0.6;

// `gain` is how many times faster products are than plain multiply-adds.
double TransformedCycles(const TransformedPlan& plan, const Target& target, int64_t lanes,
                         double gain) {
  const int64_t rows = plan.Extent(plan.row);
  const int64_t columns = plan.Extent(plan.column);
  const double tiles = TilingCost(rows, columns, TileOf(plan, target, lanes), lanes);
  const auto times =
      static_cast<double>(OuterRows(plan) * plan.Extent(plan.plane) * plan.Extent(plan.reduced));
  return Cycles(tiles * times / gain + kCyclesPerAccess * TransformCost(plan, lanes),
                WeightBytes(*plan.compute, plan.sum), target);
}

// Counts only the products, which the best tiles of registers do at about the same rate, in whole
// vectors along `columns`.
std::optional<double> DirectCycles(const Compute& compute, const Target& target, int64_t lanes,
                                   int64_t columns, double gain) {
  const auto sum = std::ranges::find_if(
      compute.statements, [](const Statement& statement) { return statement.reducer.has_value(); });
  if (sum == compute.statements.end()) return std::nullopt;
  const double products = ProductOfExtents(*sum) / static_cast<double>(columns) *
                          static_cast<double>(CeilDivide(columns, lanes));
  return Cycles(1.05 * products / gain, WeightBytes(compute, *sum), target);
}

// The estimate is rough: a clear gain goes first where nothing is measured, and what may gain is
// worth a measurement.
constexpr double kGoesFirst = 1.1;
constexpr double kWorthMeasuring = 0.8;

// An instruction on vectors that multiplies rounded operands, where the contract and the target
// allow it, and how much faster than multiply-adds it is; 0 where that is not known.
struct FasterProducts {
  const TileIntrinsic* intrinsic = nullptr;
  double gain = 0;
};

std::optional<FasterProducts> FasterProductsOf(const SketchQuestion& question) {
  if (question.rounding.min_bf16_parts > 1) return std::nullopt;
  for (const TileIntrinsic* intrinsic : DotInstructions(question.target)) {
    if (intrinsic->Extent(TileAxis::kRow) > 1) continue;
    return FasterProducts{intrinsic, question.gain ? question.gain(*intrinsic) : 0};
  }
  return std::nullopt;
}

// Transforms make the error of rounded operands about twice as large. Where results are rounded,
// too, the contract has room for that; where they are not, a measured candidate may still pass the
// checker.
bool RoundsResults(const Compute& compute) {
  return std::ranges::all_of(compute.tensors, [](const Tensor& tensor) {
    return tensor.role != TensorRole::kOutput || SizeOf(tensor.type) == SizeOf(DataType::kBF16);
  });
}

// Products of the definition for one of what is reduced, as Winograd's tiles reduce channels alone.
std::optional<double> ProductsPerReduced(const Compute& as_written, const TransformedPlan& plan) {
  const auto sum = std::ranges::find_if(as_written.statements,
                                        [](const Statement& s) { return s.reducer.has_value(); });
  if (sum == as_written.statements.end()) return std::nullopt;
  double products = 1;
  for (const VarId v : sum->iterators.ids()) {
    if (UsesIterator(sum->writes[0].index, v)) continue;
    products *= static_cast<double>(sum->iterators[v].extent);
  }
  return products / static_cast<double>(plan.Extent(plan.reduced));
}

// Collects the sketches of all lowerings that may pay.
class SketchAdder {
 public:
  explicit SketchAdder(const SketchQuestion& question)
      : question_(question),
        target_(question.target),
        lanes_(question.target.host.Lanes(sizeof(float))),
        rounded_(FasterProductsOf(question)) {}

  void Add(const NamedCompute& lowering) {
    const std::optional<TransformedPlan> plan = MakeTransformedPlan(lowering);
    if (!plan) return;
    TransformedPlan plain = *plan;
    CutLongSum(question_.rounding, plain);
    // Rounded operands are multiplied faster, by the sums as written too.
    AddPlan(plain, /*gain=*/1, /*may_be_first=*/!MultipliesRounded());
    if (!rounded_) return;
    const auto by_pairs = MakeDotPlan(*plan, lowering, *rounded_->intrinsic);
    const bool may_be_first = rounded_->gain > 0 && RoundsResults(lowering.compute);
    if (by_pairs) AddPlan(*by_pairs, std::max(1.0, rounded_->gain), may_be_first);
  }

  // At the front those that are expected to be the fastest of all, best first.
  void Finish(std::vector<Sketch>& sketches) && {
    std::ranges::stable_sort(first_, {}, &Estimated::cycles);
    std::vector<Sketch> all;
    for (Estimated& estimated : first_) all.push_back(std::move(estimated.sketch));
    std::ranges::move(sketches, std::back_inserter(all));
    std::ranges::move(others_, std::back_inserter(all));
    sketches = std::move(all);
  }

 private:
  struct Estimated {
    double cycles = 0;
    Sketch sketch;
  };

  bool MultipliesRounded() const {
    return question_.rounding.min_bf16_parts == 1 && !DotInstructions(target_).empty();
  }

  // Beside the sums as written by products that are as fast.
  void AddPlan(const TransformedPlan& plan, double gain, bool may_be_first) {
    const Compute& as_written = question_.lowerings[0].compute;
    const std::optional<double> products = ProductsPerReduced(as_written, plan);
    const std::optional<double> direct =
        DirectCycles(as_written, target_, lanes_, plan.Extent(plan.column), gain);
    if (!products || !direct) return;
    const double cycles = TransformedCycles(plan, target_, lanes_, gain);
    const double faster = *direct / cycles;
    // The analysis of errors takes longest.
    if (faster < kWorthMeasuring || !MayTransform(plan, *products, question_.rounding)) return;
    Sketch sketch = TransformedSketch(plan, target_, lanes_);
    if (faster >= kGoesFirst && may_be_first) {
      first_.push_back({cycles, std::move(sketch)});
    } else {
      others_.push_back(std::move(sketch));
    }
  }

  const SketchQuestion& question_;
  const Target& target_;
  const int64_t lanes_;
  const std::optional<FasterProducts> rounded_;
  std::vector<Estimated> first_;
  std::vector<Sketch> others_;
};

}  // namespace

void AddTransformedSketches(const SketchQuestion& question, std::vector<Sketch>& sketches) {
  // The transforms add what the sums as written do not.
  if (question.rounding.order == ReductionOrder::kAsWritten) return;
  SketchAdder adder(question);
  for (const NamedCompute& lowering : question.lowerings) adder.Add(lowering);
  std::move(adder).Finish(sketches);
}

}  // namespace tunec
