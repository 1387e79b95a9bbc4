// Flash attention: two products, with work on the rows of the first product's results between them.
// A task has a block of rows, and processes KV blocks one after the other. The scores of a KV block
// are computed in register tiles with rows as lanes, and stored in a buffer of the thread. Rows are
// lanes in the buffer too, so maxima, exponentials and sums need no work across lanes. Tiles of the
// second product have the widths as lanes, and broadcast elements of the buffer.
//
//   parallel: batches, heads, blocks of rows
//     buffers: scaled rows, carried values
//     for each KV block
//       buffers: scores, weights
//       column tiles: registers s[MC][R] = sum over depth; scores = mask(s)
//       maxima, weights, sums: rows are lanes
//       width tiles, row tiles: registers w[MR][NE] = sum over columns; o = o * a + w
//     out = o * z
//
// The keys and values of the next KV block can be prefetched (`prefetch`).
#include <algorithm>
#include <memory>
#include <utility>

#include "schedule/sketches/dot_plan.h"
#include "schedule/sketches/knobs.h"
#include "schedule/sketches/sketches.h"
#include "schedule/sketches/stream_pairs.h"
#include "schedule/sketches/stream_plan.h"
#include "schedule/sketches/stream_writer.h"
#include "schedule/sketches/tile_cost.h"

namespace tunec {
namespace {

// Returns the cost of one reduction step in all tiles that cover `extent` rows of `vectors`
// vectors, in multiply-adds of vectors. A tile has `tile` rows.
double TilesCost(int64_t extent, int64_t tile, int64_t vectors) {
  const int64_t whole = extent / tile;
  const double full = static_cast<double>(whole) *
                      TileCost(static_cast<double>(tile), static_cast<double>(vectors));
  const int64_t rest = extent % tile;
  return full + (rest == 0 ? 0 : TileCost(static_cast<double>(rest), static_cast<double>(vectors)));
}

// With `bounded_columns`, the lowering has rounded the number of a block's columns up to a multiple
// of this number.
constexpr int64_t kColumnsTogether = 16;

// Returns true if a tile of the first product may have `tile` columns. With `bounded_columns`, the
// columns of each block must be complete tiles.
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

// The target, and the instruction that computes the products.
struct Machine {
  int64_t lanes = 16;
  Target target;
  std::shared_ptr<const StreamPairs> pairs = {};  // null: plain multiply-adds
  double gain = 1;  // speed of the products relative to multiply-adds; 0: unknown

  // Returns the largest number of rows of a tile of `vectors` vectors, at least 1. With more rows,
  // accumulators would spill.
  int64_t Most(int64_t vectors) const {
    const Broadcast from = pairs ? Broadcast::kFromRegister : Broadcast::kFromMemory;
    return std::max<int64_t>(1, MostRows(target, vectors, from));
  }
};

struct StreamSizes {
  StreamChoice choice;
  double cost = 0;  // estimated cycles of all tasks
};

// Cycles for a vector of weights, with its exponential and the passes for maxima and sums; cycles
// to store and load a vector of scores.
constexpr double kCyclesPerWeight = 14;
constexpr double kCyclesPerScoreCopied = 1.5;
constexpr int64_t kMostRowVectors = 4;
// Cycles to round a vector of elements and to store it in pairs: in a task's buffer, and for
// arguments.
constexpr double kCyclesPerPaired = 3;
constexpr double kCyclesPerArgument = 8;

// The additional cycles of products by pairs, for rounding and storing the pairs.
struct PairsCost {
  double block = 0;  // for the queries of a block of rows
  double chunk = 0;  // for the weights of a KV block
  double all = 0;    // for the arguments
};

PairsCost CostOfPairs(const StreamPlan& plan, const Machine& machine) {
  if (!machine.pairs) return {};
  const StreamPairs& pairs = *machine.pairs;
  const auto vectors = [&](int64_t elements) {
    return static_cast<double>(CeilDivide(elements, machine.lanes));
  };
  const double arguments = pairs.values.elements + (pairs.keys ? pairs.keys->elements : 0);
  return {.block = vectors(plan.rows * pairs.depths) * kCyclesPerPaired,
          .chunk = vectors(plan.rows * plan.columns) * kCyclesPerPaired,
          .all = arguments / static_cast<double>(machine.lanes) * kCyclesPerArgument};
}

StreamSizes BestSizes(const StreamPlan& plan, const Machine& machine) {
  const int64_t row_vectors = CeilDivide(plan.rows, machine.lanes);
  StreamSizes best;
  best.choice.columns = BestTile(plan.columns, row_vectors, machine.Most(row_vectors),
                                 [&](int64_t tile) { return FitsColumns(plan, tile); });
  double least = 0;
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    const int64_t rows =
        BestTile(plan.rows, vectors, machine.Most(vectors), [](int64_t) { return true; });
    const int64_t widths = machine.pairs ? machine.pairs->widths : plan.widths;
    const double tiles = static_cast<double>(CeilDivide(widths, vectors * machine.lanes));
    const double cost = tiles * TilesCost(plan.rows, rows, vectors);
    if (least != 0 && !IsCheaper(cost, least)) continue;
    least = cost;
    best.choice.rows = rows;
    best.choice.widths = vectors * machine.lanes;
  }
  best.choice.unroll = 4;
  const auto columns = static_cast<double>(plan.columns);
  const int64_t depths = machine.pairs ? machine.pairs->depths : plan.depths;
  const double gain = std::max(machine.gain, 1e-3);
  const double first = TilesCost(plan.columns, best.choice.columns, row_vectors) *
                       static_cast<double>(depths) / gain;
  const double last = columns * least / gain;
  const PairsCost rounding = CostOfPairs(plan, machine);
  const double between =
      columns * static_cast<double>(row_vectors) * (kCyclesPerWeight + kCyclesPerScoreCopied);
  const double carried =
      plan.chunks == 1
          ? 0
          : 3 * static_cast<double>(plan.rows * CeilDivide(plan.widths, machine.lanes));
  const double copied = static_cast<double>(plan.rows * plan.depths);
  const double chunks = static_cast<double>(plan.chunks) * plan.visited;
  const double block =
      copied + rounding.block + chunks * (first + between + rounding.chunk + last + carried);
  best.cost = static_cast<double>(plan.tasks) * block + rounding.all;
  return best;
}

std::vector<int64_t> UpTo(int64_t most, const auto& fits) {
  std::vector<int64_t> choices;
  for (const int64_t choice : {2, 4, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28})
    if (choice <= most && fits(choice)) choices.push_back(choice);
  return choices;
}

std::string NameOf(const Machine& machine) {
  if (!machine.pairs) return "stream";
  const std::string& instruction = machine.pairs->intrinsic->name;
  return "stream/" + instruction.substr(0, instruction.find('.'));
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
  if (!ChunkedArguments(plan, machine.pairs.get()).empty())
    knobs.Add(KnobAt("prefetch", {0, 1}, 0), &StreamChoice::prefetch);
  return MakeSketch(NameOf(machine), std::move(knobs), [plan, machine](StreamChoice choice) {
    // The number of rows is limited, so that the tile fits into registers.
    choice.rows = std::min(machine.Most(choice.widths / machine.lanes), choice.rows);
    return WriteStreamSchedule(plan, machine.pairs.get(), choice);
  });
}

// Factor of the estimated cost of products that round operands, for costs that the estimate omits.
constexpr double kWorthRounding = 1.1;

class StreamSketches {
 public:
  explicit StreamSketches(const SketchQuestion& question) : question_(question) {}

  void Add(const StreamPlan& plan) {
    const Tensor& sums = plan.compute->tensors[plan.statement(plan.last).writes[0].tensor];
    const Host& host = question_.target.host;
    const Machine plain{.lanes = host.Lanes(static_cast<int>(SizeOf(sums.type))),
                        .target = question_.target};
    // With longer blocks of rows, no registers are left for columns.
    if (CeilDivide(plan.rows, plain.lanes) > kMostRowVectors) return;
    Rank(plan, plain, /*worth=*/1);
    for (const TileIntrinsic* intrinsic : DotInstructions(question_.target)) {
      if (intrinsic->Extent(TileAxis::kRow) > 1) continue;
      std::optional<StreamPairs> pairs = MakeStreamPairs(plan, *intrinsic, question_.rounding);
      if (!pairs) continue;
      Machine by_pairs = plain;
      by_pairs.pairs = std::make_shared<const StreamPairs>(*std::move(pairs));
      by_pairs.gain = question_.gain ? question_.gain(*intrinsic) : 0;
      Rank(plan, by_pairs, kWorthRounding);
    }
  }

  // Returns the sketches, the cheapest first.
  std::vector<Sketch> Take() {
    std::ranges::stable_sort(ranked_, {}, [](const auto& entry) { return entry.first; });
    std::vector<Sketch> sketches;
    for (auto& [cost, sketch] : ranked_) sketches.push_back(std::move(sketch));
    return sketches;
  }

 private:
  void Rank(const StreamPlan& plan, const Machine& machine, double worth) {
    const StreamSizes sizes = BestSizes(plan, machine);
    ranked_.emplace_back(sizes.cost * worth, StreamSketch(plan, machine, sizes.choice));
  }

  const SketchQuestion& question_;
  std::vector<std::pair<double, Sketch>> ranked_;
};

}  // namespace

void AddStreamSketches(const SketchQuestion& question, std::vector<Sketch>& sketches) {
  StreamSketches streams(question);
  for (const NamedCompute& lowering : question.lowerings) {
    if (const std::optional<StreamPlan> plan = MakeStreamPlan(lowering)) streams.Add(*plan);
  }
  std::ranges::move(streams.Take(), std::back_inserter(sketches));
}

}  // namespace tunec
