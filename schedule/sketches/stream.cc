// Streams: two products with work on the rows of the first one's result between them, as in
// attention. One task has a block of rows; the chunks of columns come one after the other. The
// scores of a chunk are computed in register tiles, rows being the lanes, and kept in a buffer of
// the thread, row by row across lanes, so that maxima, exponentials and sums need no work
// across lanes; the second product's tiles have the widths as lanes and broadcast what the
// buffer holds.
//
//   parallel: batches, heads, blocks of rows
//     buffers: scaled rows, carried values
//     for each chunk
//       buffers: scores, weights
//       column tiles: registers s[MC][R] = sum over depth; scores = mask(s)
//       maxima, weights, sums: rows are lanes
//       width tiles, row tiles: registers w[MR][NE] = sum over columns; o = o * a + w
//     out = o * z
//
// The next chunk's columns of both products may be asked for ahead (`prefetch`).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "schedule/access_analysis.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/stream_plan.h"
#include "schedule/sketches/tile_cost.h"

namespace tunec {
namespace {

struct StreamChoice {
  int64_t columns = 1;  // of a tile of the first product
  int64_t rows = 1;     // of a tile of the second
  int64_t widths = 16;
  int64_t unroll = 1;
  int64_t lanes = 1;      // of the target
  bool prefetch = false;  // the next chunk's columns, while this one's are multiplied
};

// The arguments of which each product reads other elements in each chunk: keys and values.
std::vector<std::string> ChunkedArguments(const StreamPlan& plan) {
  std::vector<std::string> tensors;
  if (!plan.chunk) return tensors;
  for (const StatementId s : {plan.first, plan.last}) {
    const std::optional<VarId> chunk = plan.IteratorOf(s, *plan.chunk);
    for (const Read& read : plan.statement(s).reads) {
      const Tensor& tensor = plan.compute->tensors[read.tensor];
      const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
      const bool known = std::ranges::find(tensors, tensor.name) != tensors.end();
      const bool loaded = std::ranges::any_of(read.index, &IndexExpr::UsesLoaded);
      if (argument && !known && !loaded && chunk && UsesIterator(read.index, *chunk))
        tensors.push_back(tensor.name);
    }
  }
  return tensors;
}

class StreamWriter {
 public:
  StreamWriter(const StreamPlan& plan, const StreamChoice& choice) : plan_(plan), choice_(choice) {}

  Schedule Write() {
    schedule_.lowering = plan_.lowering;
    Gather();
    TileFirst();
    TileLast();
    StageBuffers();
    for (const StatementId s : All()) RunInLanes(s);
    for (const int outer : plan_.outer) Add(ParallelizeStep{Loop(plan_.first, outer)});
    if (plan_.chunk && choice_.prefetch) PrefetchChunk();
    return std::move(schedule_);
  }

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  IdRange<StatementId> All() const { return plan_.compute->statements.ids(); }
  const Statement& At(StatementId s) const { return plan_.statement(s); }
  const std::string& First() const { return At(plan_.first).name; }
  const std::string& Last() const { return At(plan_.last).name; }
  bool Has(StatementId s, int dimension) const {
    return plan_.IteratorOf(s, dimension).has_value();
  }
  std::string Loop(StatementId s, int dimension) const {
    return At(s).name + "." + plan_.NameOf(dimension);
  }
  std::string BlockLoop() const { return Loop(plan_.first, plan_.outer.back()); }
  std::string ChunkLoop() const {
    return plan_.chunk ? Loop(plan_.first, *plan_.chunk) : BlockLoop();
  }
  std::string LoopOf(StatementId s) const {
    return plan_.chunk && Has(s, *plan_.chunk) ? ChunkLoop() : BlockLoop();
  }
  // The loop in which a tile of the second product lives.
  std::string LastTileLoop() const { return Loop(plan_.last, plan_.row) + ".0"; }

  // Whether the statement works on the finished tiles of a product, element by element.
  bool Follows(StatementId s, StatementId product) const {
    const TensorId tensor = At(product).writes[0].tensor;
    const bool reads =
        std::ranges::any_of(At(s).reads, [&](const Read& read) { return read.tensor == tensor; });
    return reads && !At(s).reducer;
  }

  // Every statement goes to the loop over blocks or chunks that it belongs to.
  void Gather() {
    for (const StatementId s : All()) {
      if (s == plan_.first) continue;
      Add(ComputeAtStep{At(s).name, LoopOf(s)});
      if (At(s).reducer) Add(ComputeAtStep{At(s).name + ".init", LoopOf(s)});
    }
  }

  void TileFirst() {
    const std::string columns = Loop(plan_.first, plan_.column);
    Add(SplitStep{columns, {choice_.columns}});
    // Columns that end with the block of rows do so with a tile.
    const bool partial = plan_.partial_columns && !plan_.bounded_columns;
    if (plan_.columns % choice_.columns != 0 || partial) {
      Add(IsolateStep{columns + ".0"});
    }
    if (plan_.chunk && partial) Add(IsolateStep{ChunkLoop()});
    Add(ReorderStep{{columns + ".0", Loop(plan_.first, plan_.depth), columns + ".1",
                     Loop(plan_.first, plan_.row)}});
    Add(ComputeAtStep{First() + ".init", columns + ".0"});
    for (const StatementId s : All()) {
      if (Follows(s, plan_.first)) Add(ComputeAtStep{At(s).name, columns + ".0"});
    }
    Stage(plan_.first, Scope::kRegister, columns + ".0");
  }

  void TileLast() {
    const std::string rows = Loop(plan_.last, plan_.row);
    const std::string widths = Loop(plan_.last, plan_.width);
    Add(SplitStep{rows, {choice_.rows}});
    if (plan_.rows % choice_.rows != 0) Add(IsolateStep{rows + ".0"});
    Add(SplitStep{widths, {choice_.widths}});
    if (plan_.widths % choice_.widths != 0) Add(IsolateStep{widths + ".0"});
    Add(ReorderStep{
        {widths + ".0", rows + ".0", Loop(plan_.last, plan_.column), rows + ".1", widths + ".1"}});
    Add(ComputeAtStep{Last() + ".init", LastTileLoop()});
    for (const StatementId s : All()) {
      if (Follows(s, plan_.last)) Add(ComputeAtStep{At(s).name, LastTileLoop()});
    }
    Stage(plan_.last, Scope::kRegister, LastTileLoop());
  }

  void Stage(StatementId s, Scope scope, const std::string& loop) {
    Add(StageStep{plan_.compute->tensors[At(s).writes[0].tensor].name, scope, loop});
  }

  // Whether all values of the tensor are used in the chunk that made them.
  bool StaysInChunk(TensorId tensor) const {
    if (!plan_.chunk) return false;
    const auto same_chunk = [&](StatementId s, const std::vector<IndexExpr>& index) {
      const auto chunk = plan_.IteratorOf(s, *plan_.chunk);
      return chunk &&
             std::ranges::any_of(index, [&](const IndexExpr& e) { return e.AsVar() == *chunk; });
    };
    for (const StatementId s : All()) {
      for (const Read& read : At(s).reads) {
        if (read.tensor == tensor && !same_chunk(s, read.index)) return false;
      }
      for (const tunec::Write& write : At(s).writes) {
        if (write.tensor == tensor && !same_chunk(s, write.index)) return false;
      }
    }
    return true;
  }

  // Whether the tensor holds a value per row that is only used with rows as lanes.
  bool IsRowVector(TensorId tensor) const {
    const auto touches = [&](const auto& access) { return access.tensor == tensor; };
    for (const StatementId s : All()) {
      if (std::ranges::none_of(At(s).reads, touches) &&
          std::ranges::none_of(At(s).writes, touches)) {
        continue;
      }
      if (Has(s, plan_.width) || Has(s, plan_.depth)) return false;
      const auto column = plan_.IteratorOf(s, plan_.column);
      const bool by_column = std::ranges::any_of(At(s).writes, [&](const tunec::Write& write) {
        return touches(write) && column && UsesIterator(write.index, *column);
      });
      if (by_column) return false;
    }
    return true;
  }

  void StageBuffers() {
    for (const StatementId s : All()) {
      const TensorId tensor = At(s).writes[0].tensor;
      if (s == plan_.first || s == plan_.last) continue;
      if (plan_.compute->tensors[tensor].role != TensorRole::kWorkspace) continue;
      const bool in_chunk = StaysInChunk(tensor);
      const bool in_registers = IsRowVector(tensor) && (in_chunk || !plan_.chunk);
      Stage(s, in_registers ? Scope::kRegister : Scope::kPacked,
            in_chunk ? ChunkLoop() : BlockLoop());
    }
  }

  void RunInLanes(StatementId s) {
    if (s == plan_.first || Follows(s, plan_.first)) return RunTile(s, plan_.column, plan_.row);
    if (s == plan_.last || Follows(s, plan_.last)) return RunTile(s, plan_.row, plan_.width);
    if (Has(s, plan_.width)) return RunAlongWidth(s);
    if (Has(s, plan_.depth)) return RunAlongDepth(s);
    if (At(s).reducer) {
      Add(ReorderStep{{Loop(s, plan_.column), Loop(s, plan_.row)}});
      Add(VectorizeStep{At(s).name + ".init." + plan_.NameOf(plan_.row)});
    }
    Add(VectorizeStep{Loop(s, plan_.row)});
    if (Has(s, plan_.column)) Unroll(Loop(s, plan_.column), plan_.columns);
  }

  // A statement on a register tile: `unrolled` are its rows, `lanes` its columns.
  void RunTile(StatementId s, int unrolled, int lanes) {
    const bool second = s == plan_.last || Follows(s, plan_.last);
    const std::string lane_suffix = "." + plan_.NameOf(lanes) + (second ? ".1" : "");
    for (const std::string& name : {At(s).name, At(s).name + ".init"}) {
      if (name != At(s).name && !At(s).reducer) continue;
      Add(UnrollStep{name + "." + plan_.NameOf(unrolled) + ".1"});
      Add(VectorizeStep{name + lane_suffix});
    }
    if (s == plan_.first) Unroll(Loop(s, plan_.depth), plan_.depths);
    if (s == plan_.last) Unroll(Loop(s, plan_.column), plan_.columns);
  }

  // The output, once all chunks are done.
  void RunAlongWidth(StatementId s) {
    const std::string loop = Loop(s, plan_.width);
    Add(SplitStep{loop, {choice_.widths}});
    if (plan_.widths % choice_.widths != 0) Add(IsolateStep{loop + ".0"});
    Add(VectorizeStep{loop + ".1"});
  }

  // Rows copied before they are multiplied: turned over, so that they are lanes. In blocks, where
  // they come out even: rows of a block are read as vectors then, and transposed in registers.
  void RunAlongDepth(StatementId s) {
    const std::string depth = Loop(s, plan_.depth), row = Loop(s, plan_.row);
    const int64_t block = std::gcd(plan_.depths, choice_.lanes);
    if (block < 4 || plan_.rows % choice_.lanes != 0) {
      Add(ReorderStep{{depth, row}});
      Add(VectorizeStep{row});
      return;
    }
    Add(SplitStep{depth, {block}});
    Add(SplitStep{row, {choice_.lanes}});
    Add(ReorderStep{{depth + ".0", row + ".0", depth + ".1", row + ".1"}});
    Add(UnrollStep{depth + ".1"});
    Add(VectorizeStep{row + ".1"});
  }

  void PrefetchChunk() {
    for (const std::string& tensor : ChunkedArguments(plan_))
      Add(PrefetchStep{tensor, ChunkLoop(), 1, 2});
  }

  void Unroll(const std::string& loop, int64_t extent) {
    const int64_t factor = std::min(choice_.unroll, extent);
    if (factor > 1) Add(UnrollStep{loop, static_cast<int>(factor)});
  }

  const StreamPlan& plan_;
  StreamChoice choice_;
  Schedule schedule_;
};

// Cycles of all tiles of `extent` by `vectors`.
double TilesCost(int64_t extent, int64_t tile, int64_t vectors) {
  const int64_t whole = extent / tile;
  const double full = static_cast<double>(whole) *
                      TileCost(static_cast<double>(tile), static_cast<double>(vectors));
  const int64_t rest = extent % tile;
  return full + (rest == 0 ? 0 : TileCost(static_cast<double>(rest), static_cast<double>(vectors)));
}

// What the columns of blocks that end are multiples of, by the lowering.
constexpr int64_t kColumnsTogether = 16;

// How many columns a tile of the first product may have. Those that end with the block of rows do
// so at multiples of a power of two.
bool FitsColumns(const StreamPlan& plan, int64_t tile) {
  return !plan.bounded_columns || kColumnsTogether % tile == 0;
}

int64_t BestTile(int64_t extent, int64_t vectors, int64_t most, const auto& fits) {
  int64_t best = 1;
  for (int64_t tile = 1; tile <= std::min(extent, most); ++tile) {
    if (!fits(tile)) continue;
    if (IsCheaper(TilesCost(extent, tile, vectors), TilesCost(extent, best, vectors))) best = tile;
  }
  return best;
}

struct Machine {
  int64_t lanes = 16;
  Target target;

  // How high a tile of so many vectors may be; more accumulators than registers spill.
  int64_t Most(int64_t vectors) const {
    return std::max<int64_t>(1, MostRows(target, vectors, Broadcast::kFromMemory));
  }
};

struct StreamSizes {
  StreamChoice choice;
  double cost = 0;  // estimated cycles of all tasks
};

// Of an exponential's vector, with the passes for maxima and sums; of a vector stored and read.
constexpr double kCyclesPerWeight = 14;
constexpr double kCyclesPerScoreCopied = 1.5;
constexpr int64_t kMostRowVectors = 4;

StreamSizes BestSizes(const StreamPlan& plan, const Machine& machine) {
  const int64_t row_vectors = CeilDivide(plan.rows, machine.lanes);
  StreamSizes best;
  best.choice.columns = BestTile(plan.columns, row_vectors, machine.Most(row_vectors),
                                 [&](int64_t tile) { return FitsColumns(plan, tile); });
  double least = 0;
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    const int64_t rows =
        BestTile(plan.rows, vectors, machine.Most(vectors), [](int64_t) { return true; });
    const double tiles = static_cast<double>(CeilDivide(plan.widths, vectors * machine.lanes));
    const double cost = tiles * TilesCost(plan.rows, rows, vectors);
    if (least != 0 && !IsCheaper(cost, least)) continue;
    least = cost;
    best.choice.rows = rows;
    best.choice.widths = vectors * machine.lanes;
  }
  best.choice.unroll = 4;
  const auto columns = static_cast<double>(plan.columns);
  const double first =
      TilesCost(plan.columns, best.choice.columns, row_vectors) * static_cast<double>(plan.depths);
  const double between =
      columns * static_cast<double>(row_vectors) * (kCyclesPerWeight + kCyclesPerScoreCopied);
  const double carried =
      plan.chunks == 1
          ? 0
          : 3 * static_cast<double>(plan.rows * CeilDivide(plan.widths, machine.lanes));
  const double copied = static_cast<double>(plan.rows * plan.depths);
  const double chunks = static_cast<double>(plan.chunks) * plan.visited;
  best.cost = static_cast<double>(plan.tasks) *
              (copied + chunks * (first + between + columns * least + carried));
  return best;
}

std::vector<int64_t> UpTo(int64_t most, const auto& fits) {
  std::vector<int64_t> choices;
  for (const int64_t choice : {2, 4, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28})
    if (choice <= most && fits(choice)) choices.push_back(choice);
  return choices;
}

Sketch StreamSketch(const StreamPlan& plan, const Machine& machine, const StreamChoice& initial) {
  const int64_t row_vectors = CeilDivide(plan.rows, machine.lanes);
  const int64_t lanes = machine.lanes;
  Knobs<StreamChoice> knobs({.lanes = lanes});
  const auto fits = [&](int64_t tile) { return FitsColumns(plan, tile); };
  knobs.Add(KnobAt("columns", UpTo(std::min(plan.columns, machine.Most(row_vectors)), fits),
                   initial.columns),
            &StreamChoice::columns);
  const auto any = [](int64_t) { return true; };
  knobs.Add(KnobAt("rows", UpTo(std::min(plan.rows, machine.Most(1)), any), initial.rows),
            &StreamChoice::rows);
  knobs.Add(KnobAt("widths", {lanes, 2 * lanes, 3 * lanes, 4 * lanes}, initial.widths),
            &StreamChoice::widths);
  knobs.Add(KnobAt("unroll", {1, 2, 4, 8}, initial.unroll), &StreamChoice::unroll);
  if (!ChunkedArguments(plan).empty())
    knobs.Add(KnobAt("prefetch", {0, 1}, 0), &StreamChoice::prefetch);
  return MakeSketch("stream", std::move(knobs), [plan, machine](StreamChoice choice) {
    // The nearest tile that fits.
    choice.rows = std::min(machine.Most(choice.widths / machine.lanes), choice.rows);
    return StreamWriter(plan, choice).Write();
  });
}

}  // namespace

void AddStreamSketches(const std::vector<NamedCompute>& lowerings, const Target& target,
                       std::vector<Sketch>& sketches) {
  std::vector<std::pair<double, Sketch>> ranked;
  for (const NamedCompute& lowering : lowerings) {
    std::optional<StreamPlan> plan = MakeStreamPlan(lowering);
    if (!plan) continue;
    const Tensor& sums = lowering.compute.tensors[plan->statement(plan->last).writes[0].tensor];
    const Machine machine{.lanes = target.host.Lanes(static_cast<int>(SizeOf(sums.type))),
                          .target = target};
    // Longer blocks of rows leave no registers for columns.
    if (CeilDivide(plan->rows, machine.lanes) > kMostRowVectors) continue;
    const StreamSizes sizes = BestSizes(*plan, machine);
    ranked.emplace_back(sizes.cost, StreamSketch(*plan, machine, sizes.choice));
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  for (auto& [cost, sketch] : ranked) sketches.push_back(std::move(sketch));
}

}  // namespace tunec
