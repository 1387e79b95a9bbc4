// Winograd convolutions: products between transforms of both operands and of the planes of sums.
//
// A task processes a block of rows, which are tiles of the image. It transforms the operand for all
// reduced elements of these rows into a separate buffer. For each panel of columns, it then
// computes all planes of sums in register tiles. It combines the planes, and computes the later
// statements, while the planes are in the cache. By default, if there are few tiles of rows for the
// threads, a separate phase transforms the rows. The panels are then tasks too.
//
//   parallel: batches, blocks of rows
//     operand[planes][rows of the block][reduced elements] = transform
//     column panels
//       planes
//         row tiles of the block
//           registers: acc[MR][NR] = sum of operand * weight
//       rows of the block
//         outputs = combined planes
//
// Long sums are split into K-blocks (pieces.h). The planes are then initialised with zero, and the
// register tile of each K-block is added to them.
//
// If the contract and the target permit it, the transforms round both operands to bfloat16. An
// instruction then multiplies pairs of elements that are consecutive along the reduced dimension.
// The elements of a pair are contiguous.
#include <algorithm>
#include <bit>
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
  int64_t block = 1;  // number of row tiles in a block
  int64_t unroll = 4;
  bool by_block = true;  // the tasks that multiply the operand also transform it
  int64_t lanes = 16;    // vector lanes of the target; no knob
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
  // Returns the loop over the vectors of a panel's columns in the statement that combines planes.
  std::string BackLoop() const { return plan_.back + plan_.Suffix(plan_.column) + ".1.0"; }

  // Returns the number of consecutive reduced elements that one instruction multiplies; 1 without
  // an instruction.
  int64_t Group() const { return plan_.dot != nullptr ? plan_.dot->Extent(TileAxis::kGroup) : 1; }

  // Returns the storage order of the weights. A panel of columns is contiguous, with all planes. A
  // group of consecutive reduced elements is contiguous inside the panel.
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
  // Returns the innermost loop around the loop over planes.
  std::string PanelLoop() const { return choice_.by_block ? Panels() : Row(".0"); }

  void AttachOperand() {
    std::string vector = plan_.producer_vector;
    if (choice_.by_block) {
      Add(ComputeAtStep{plan_.producer, Row(".0")});
      // The moved loop has the name of the sum's iterator, unless K-blocks split this iterator.
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
  // Moves the statement that combines planes into the innermost loop around the planes, and splits
  // its columns into vectors. Moves the followers into the loop over these vectors.
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
  // Splits the loops into tiles of the instruction, and replaces the sum's tiles by the
  // instruction.
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

// Largest number of vectors of columns in a default panel. A panel of weights has all planes, so
// only a narrow panel leaves the block of rows in the cache.
constexpr int64_t kPanelVectors = 2;
constexpr int64_t kMostRows = 15;  // largest number of rows of a default tile

// Returns the default tile. Its number of rows is odd, and so is the number of rows of a default
// block. With an even number, all planes of a block may map to one set of the first-level cache. An
// even best number is replaced by the odd number above if this tile fits and is cheaper, else by
// the odd number below. A tile with few rows may be slow, because each sum waits for its previous
// addition.
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

// The default numbers that decide how often a thread reads weights and the transformed operand.
struct BlockChoice {
  int64_t block = 1;
  bool by_block = true;
};

// The bytes that the tasks of a sketch read again and again.
struct TileBytes {
  int64_t operand = 0;  // transformed operand and planes of sums of a row tile
  int64_t panel = 0;    // weights of a panel of columns, all planes
};

TileBytes BytesOf(const TransformedPlan& plan, const TileSizes& tile) {
  const auto element = static_cast<int64_t>(SizeOf(plan.dot ? DataType::kBF16 : DataType::kF32));
  const int64_t reduced = plan.Extent(plan.reduced) * element;
  const int64_t planes = plan.Extent(plan.plane);
  const auto sums = tile.columns * static_cast<int64_t>(sizeof(float));
  return {.operand = tile.rows * planes * (reduced + sums),
          .panel = tile.columns * planes * reduced};
}

// Returns a block whose operand uses at most half of the second-level cache, unless one tile needs
// more. The number of row tiles is odd. It is reduced, if possible, until each thread has four
// tasks. The tasks transform the operand if there are enough row tiles for all threads.
BlockChoice BlockInCache(const TransformedPlan& plan, const Target& target, const TileSizes& tile) {
  const int64_t tiles = CeilDivide(plan.Extent(plan.row), tile.rows);
  const int64_t panels = CeilDivide(plan.Extent(plan.column), tile.columns);
  const bool by_block = OuterRows(plan) * tiles >= 4 * target.host.threads;
  const int64_t tasks_of_block = OuterRows(plan) * (by_block ? 1 : panels);
  int64_t block =
      std::clamp<int64_t>(target.host.l2_bytes / 2 / BytesOf(plan, tile).operand, 1, tiles);
  while (block > 1 && CeilDivide(tiles, block) * tasks_of_block < 4 * target.host.threads) {
    block /= 2;
  }
  return {.block = block > 1 ? block - (block + 1) % 2 : block, .by_block = by_block};
}

// Returns the default block: the one in the second-level cache, or one of all row tiles. With all
// row tiles, each panel of weights is read once, but the operand is read from the third level for
// each panel. Many channels have large panels. All row tiles are chosen only if the whole operand
// uses at most a quarter of the third level.
BlockChoice DefaultBlock(const TransformedPlan& plan, const Target& target, const TileSizes& tile) {
  constexpr double kSecondLevel = 0.3;  // cost of a byte, relative to the third level
  constexpr double kWorth = 0.8;
  const int64_t tiles = CeilDivide(plan.Extent(plan.row), tile.rows);
  const int64_t panels = CeilDivide(plan.Extent(plan.column), tile.columns);
  const BlockChoice in_cache = BlockInCache(plan, target, tile);
  const TileBytes bytes = BytesOf(plan, tile);
  const bool in_third_level = OuterRows(plan) * tiles * bytes.operand <= target.host.l3_bytes / 4;
  if (!in_third_level || OuterRows(plan) * panels < 4 * target.host.threads) return in_cache;
  const auto cost = [&](int64_t block, double operand_cost) {
    return static_cast<double>(CeilDivide(tiles, block) * bytes.panel) +
           operand_cost * static_cast<double>(tiles * bytes.operand);
  };
  const bool all = cost(tiles, 1) < kWorth * cost(in_cache.block, kSecondLevel);
  // The knob has powers of two, so the number is rounded up.
  const auto whole = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(tiles)));
  return all ? BlockChoice{.block = whole, .by_block = false} : in_cache;
}

std::string NameOf(const TransformedPlan& plan) {
  if (plan.dot == nullptr) return "transformed";
  return "transformed/" + plan.dot->name.substr(0, plan.dot->name.find('.'));
}

Sketch TransformedSketch(const TransformedPlan& plan, const Target& target, int64_t lanes) {
  const TileSizes tile = TileOf(plan, target, lanes);
  const BlockChoice choice = DefaultBlock(plan, target, tile);
  Knobs<TransformedChoice> knobs({.lanes = lanes});
  knobs.Add(KnobNear("rows", RowChoices(plan.Extent(plan.row)), tile.rows),
            &TransformedChoice::rows);
  knobs.Add(KnobNear("columns", {lanes, 2 * lanes, 3 * lanes, 4 * lanes}, tile.columns),
            &TransformedChoice::columns);
  knobs.Add(KnobNear("block", {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32}, choice.block),
            &TransformedChoice::block);
  knobs.Add(KnobNear("unroll", {1, 2, 4, 8}, 4), &TransformedChoice::unroll);
  knobs.Add(KnobNear("by_block", {0, 1}, choice.by_block ? 1 : 0), &TransformedChoice::by_block);
  const auto write = [plan, target, lanes](TransformedChoice choice) {
    // A tile with more accumulators than registers would spill, so its number of rows is reduced.
    const int64_t most = MostRows(target, choice.columns / lanes, BroadcastOf(plan));
    choice.rows = std::clamp<int64_t>(most, 1, choice.rows);
    const int64_t group = plan.dot != nullptr ? plan.dot->Extent(TileAxis::kGroup) : 1;
    choice.unroll = std::min(choice.unroll, plan.Extent(plan.reduced) / group);
    return TransformedWriter(plan, choice).Write();
  };
  return MakeSketch(NameOf(plan), std::move(knobs), write);
}

// Rate at which all threads together read weights. Each run reads the weights once.
constexpr double kWeightBytesPerCycle = 10;

double WeightBytes(const Compute& compute, const Statement& sum) {
  double bytes = 0;
  for (const Read& read : sum.reads) {
    const Tensor& tensor = compute.tensors[read.tensor];
    if (tensor.constant) bytes += static_cast<double>(StorageBytes(tensor));
  }
  return bytes;
}

// Returns the part of a run's cycles that differs between lowerings. `work` is in vector
// instructions.
double Cycles(double work, double weight_bytes, const Target& target) {
  return work / static_cast<double>(target.host.threads) + weight_bytes / kWeightBytesPerCycle;
}

// Cycles per unit of TransformCost. Loads and stores of transforms overlap with each other and with
// arithmetic. They take 0.45 to 0.65 cycles per unit (measured for 16 to 96 channels, Zen 4).
constexpr double kCyclesPerAccess = 0.6;

// Returns the estimated cycles of the plan. `gain` is the speed of its products relative to plain
// multiply-adds.
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

// Returns the estimated cycles of the sum as written, or nothing without a reduction. Counts only
// weights and products, in complete vectors along the columns. The best register tiles of all sums
// compute products at about the same rate. `gain` is the speed of the products relative to plain
// multiply-adds.
std::optional<double> DirectCycles(const Compute& compute, const Target& target, int64_t lanes,
                                   int64_t columns, double gain) {
  const auto sum = std::ranges::find_if(
      compute.statements, [](const Statement& statement) { return statement.reducer.has_value(); });
  if (sum == compute.statements.end()) return std::nullopt;
  const double products = ProductOfExtents(*sum) / static_cast<double>(columns) *
                          static_cast<double>(CeilDivide(columns, lanes));
  return Cycles(1.05 * products / gain, WeightBytes(compute, *sum), target);
}

// Least gains over the sum as written: for a sketch that comes before all others, and for a sketch
// that is added at all. The estimate is rough, so a sketch that is slower by estimate may still be
// worth a measurement.
constexpr double kGoesFirst = 1.1;
constexpr double kWorthMeasuring = 0.8;

// An instruction on vectors that multiplies operands rounded to bfloat16. `gain` is its speed
// relative to plain multiply-adds; 0: unknown.
struct FasterProducts {
  const TileIntrinsic* intrinsic = nullptr;
  double gain = 0;
};

// Returns the first such instruction of the target. Returns nothing if there is none, or if the
// contract requires several bfloat16 parts.
std::optional<FasterProducts> FasterProductsOf(const SketchQuestion& question) {
  if (question.rounding.min_bf16_parts > 1) return std::nullopt;
  for (const TileIntrinsic* intrinsic : DotInstructions(question.target)) {
    if (intrinsic->Extent(TileAxis::kRow) > 1) continue;
    return FasterProducts{intrinsic, question.gain ? question.gain(*intrinsic) : 0};
  }
  return std::nullopt;
}

// Returns true if the elements of all outputs have the size of bfloat16. Transforms about double
// the error of rounded operands. The contract's tolerance covers this error if results are rounded
// too. Otherwise a measured candidate may still pass the checker.
bool RoundsResults(const Compute& compute) {
  return std::ranges::all_of(compute.tensors, [](const Tensor& tensor) {
    return tensor.role != TensorRole::kOutput || SizeOf(tensor.type) == SizeOf(DataType::kBF16);
  });
}

// Returns the number of products in the sum as written for one value of the plan's reduced
// iterator. Winograd's sums reduce only channels, so this is the number of elements of a filter.
// Returns nothing if `as_written` has no reduction.
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

// Collects the sketches of all lowerings that may be faster than the sum as written.
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
    // If operands may be rounded, a faster instruction can also compute the sum as written.
    // Products of unrounded operands then do not come first.
    AddPlan(plain, /*gain=*/1, /*may_be_first=*/!MultipliesRounded());
    if (!rounded_) return;
    const auto by_pairs = MakeDotPlan(*plan, lowering, *rounded_->intrinsic);
    const bool may_be_first = rounded_->gain > 0 && RoundsResults(lowering.compute);
    if (by_pairs) AddPlan(*by_pairs, std::max(1.0, rounded_->gain), may_be_first);
  }

  // Adds the sketches to the list. Sketches that are expected to be the fastest of all come first,
  // sorted by cycles. The others come last.
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

  // Adds a sketch of the plan if its estimated gain is at least kWorthMeasuring and the contract
  // permits the transforms. The gain is relative to the sum as written, with equally fast products.
  void AddPlan(const TransformedPlan& plan, double gain, bool may_be_first) {
    const Compute& as_written = question_.lowerings[0].compute;
    const std::optional<double> products = ProductsPerReduced(as_written, plan);
    const std::optional<double> direct =
        DirectCycles(as_written, target_, lanes_, plan.Extent(plan.column), gain);
    if (!products || !direct) return;
    const double cycles = TransformedCycles(plan, target_, lanes_, gain);
    const double faster = *direct / cycles;
    // The analysis of errors takes the most time, so it comes last.
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
  // The transforms contain additions that the sum as written does not have.
  if (question.rounding.order == ReductionOrder::kAsWritten) return;
  SketchAdder adder(question);
  for (const NamedCompute& lowering : question.lowerings) adder.Add(lowering);
  std::move(adder).Finish(sketches);
}

}  // namespace tunec
