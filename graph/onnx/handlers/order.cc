// Selection of the first k elements of each row (docs/decisions/0030_top_k_by_networks.md). There
// are three ways, and estimates of their times choose one (order_plan.h). A long row is divided
// into pieces, and the pieces' maxima show which pieces can contain the first elements. Many
// elements are sorted by a bitonic network over pairs of a value and its original position. A row
// is divided into blocks of K >= k elements; K is a power of two. All blocks are sorted in the same
// way. Then the number of blocks is halved repeatedly. To merge two sorted blocks, element i of one
// block is compared with element K - 1 - i of the other block. The elements that precede in these
// comparisons are the first K elements of both blocks, and log K exchanges sort them.
//
// A stage compares every element with a partner, for all blocks of all rows at once. So elements
// with the same number in all blocks are consecutive in memory. The rows are divided into chunks,
// which are independent of each other. A thread that works on the same chunks in all stages
// finds the operands in its cache. Pairs are arranged as [chunks, K, blocks * rows of a chunk]. A
// line has one index of the first two axes. Stages are elementwise operators, which usually compare
// the elements of one line with those of another. If a line would have fewer elements than a vector
// has lanes, the upper bits of an element's number are also part of the index in a line.
//
// Few elements are ranked by counting instead: the rank of an element is the number of elements
// that precede it in the row's order. For k = 1, reductions find the first element.
//
// The number of rows may be named. All numbers of rows are then sorted in the same way, and lines
// fill vectors even if there is one row.
#include "graph/onnx/handlers/order.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "graph/onnx/handlers/order_pairs.h"
#include "graph/onnx/handlers/order_plan.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

// Number of contiguous elements that is enough to fill a vector.
constexpr int64_t kLanes = 16;
// Number of rows for which the fastest way is chosen if the number is named.
constexpr int64_t kTypicalRows = 32;
// Largest extent of the axes that separate parallel tasks.
constexpr int64_t kTasks = 64;

// Returns the number of chunks, a divisor of the number of rows. The rows of a chunk fill a vector,
// unless there is only one chunk. If the number of rows is named, there is one.
int64_t ChunksFor(const Dim& rows) {
  const int64_t count = rows.AsConstant().value_or(1);
  int64_t chunks = std::clamp<int64_t>(count / kLanes, 1, kTasks);
  while (count % chunks != 0) --chunks;
  return chunks;
}

// Blocks of `size` elements. Element c * below + a of a block is at
// [chunk, a, (c * blocks + block) * rows + row]. There are `below` values of a, `above` values of
// c, and `rows` rows of a chunk. The first two numbers are powers of two.
class Blocks {
 public:
  /// Constructs unsorted blocks from pairs [rows, length]. The positions may be [1, length] if all
  /// rows share them.
  Blocks(const Pairs& pairs, const Dim& rows, int64_t length, int64_t size)
      : size_(size),
        chunks_(ChunksFor(rows)),
        rows_(rows.IsConstant() ? Dim(rows.Value() / chunks_) : rows),
        blocks_(RoundUpToPower((length + size - 1) / size)),
        above_(AboveFor(blocks_)),
        pairs_(Load(Padded(pairs, Candidates() - length))) {}

  int64_t Candidates() const { return size_ * blocks_; }
  int64_t blocks() const { return blocks_; }

  /// Sorts the elements of each block, greatest values first.
  void Sort() {
    for (int64_t sorted = 1; sorted < size_; sorted *= 2) {
      Exchange(sorted, Mirrored(sorted));
      MergeBitonic(sorted / 2);
    }
  }

  /// Merges each two blocks into one, which has the first `size_` elements of both, sorted.
  /// Requires: blocks are sorted, and blocks() > 1.
  void Halve() {
    const Pairs whole = Reshaped(pairs_, {chunks_, Below(), above_, rows_ * blocks_});
    blocks_ /= 2;
    const auto part = [&](const Dim& begin) {
      return Each(whole,
                  [&](const Formula& x) { return x.Slice(3, begin, begin + rows_ * blocks_); });
    };
    const Pairs first = Reshaped(part(0), Shape());
    const Pairs second = Reshaped(Reversed(part(rows_ * blocks_), {1, 2}), Shape());
    pairs_ = Select(Precedes(first, second), first, second);
    Widen();
    MergeBitonic(size_ / 2);
  }

  /// Returns all pairs, unsorted, as [outer, candidates, inner] with outer * inner rows.
  Pairs All() const {
    Pairs columns = Reshaped(pairs_, {chunks_, Candidates(), rows_});
    if (LeastRows() >= kLanes) return columns;
    return Each(columns, [&](const Formula& x) {
      return x.Transpose({0, 2, 1}).Reshape({rows_ * chunks_, Candidates(), 1});
    });
  }

  /// Returns the positions of the first k elements of the only block: [rows, k].
  Formula First(int64_t k) const {
    return pairs_.positions.Reshape({chunks_, Below(), above_, rows_})
        .Transpose({0, 3, 2, 1})
        .Reshape({rows_ * chunks_, size_})
        .Slice(1, 0, k);
  }

 private:
  int64_t Below() const { return size_ / above_; }
  Dim Width() const { return rows_ * (above_ * blocks_); }
  /// Returns the number of rows of a chunk, or 1 if it is named.
  int64_t LeastRows() const { return rows_.AsConstant().value_or(1); }
  /// Returns the shape in which pairs are stored: chunks, tasks, lines of a task, and elements of a
  /// line. If rows fill vectors they have a separate axis, so that loading the input is only a
  /// transposition.
  std::vector<Dim> Shape() const {
    const auto most = std::bit_floor(static_cast<uint64_t>(kTasks / chunks_));
    const int64_t tasks = std::min(Below(), static_cast<int64_t>(most));
    std::vector<Dim> shape = {chunks_, tasks, Below() / tasks, Width()};
    if (LeastRows() >= kLanes) {
      shape.back() = above_ * blocks_;
      shape.push_back(rows_);
    }
    return shape;
  }

  int64_t AboveFor(int64_t blocks) const {
    int64_t above = 1;
    while (above < size_ && above * blocks * LeastRows() < kLanes) above *= 2;
    return above;
  }

  /// Loads pairs into blocks. Any element may be stored anywhere in any block. The order is the
  /// input's, or one for which the transposed input has long lines.
  Pairs Load(const Pairs& pairs) const {
    const int64_t beside = above_ * blocks_;
    const bool in_input_order = rows_ == Dim(1) || beside >= kLanes;
    return Each(pairs, [&](const Formula& x) {
      if (!x.ok()) return x;
      // Positions that all rows share have one row.
      const bool shared = x.shape().list()[0] == Dim(1);
      const Dim chunks = shared ? 1 : chunks_;
      const Dim rows = shared ? 1 : rows_;
      const Formula turned =
          in_input_order ? x.Reshape({chunks, rows, Below(), beside}).Transpose({0, 2, 3, 1})
                         : x.Reshape({chunks, rows, beside, Below()}).Transpose({0, 3, 2, 1});
      return turned.Expand({chunks_, Below(), beside, rows_}).Reshape(Shape());
    });
  }

  /// Sorts each run of 2 * `distance` elements. Requires: each run is bitonic.
  /// Does nothing if `distance` is 0.
  void MergeBitonic(int64_t distance) {
    for (; distance >= 1; distance /= 2) Exchange(distance, Shifted(distance));
  }

  /// Returns for each element the one whose number differs only in the bit of value `distance`.
  Pairs Shifted(int64_t distance) const {
    const int64_t below = Below();
    const Dim others = rows_ * blocks_;
    if (distance < below) {
      const Pairs parts =
          Reshaped(pairs_, {chunks_ * below / (2 * distance), 2, distance, Width()});
      return Reshaped(Reversed(parts, {1}), Shape());
    }
    const int64_t apart = distance / below;
    const Pairs parts = Reshaped(pairs_, {chunks_ * below, above_ / (2 * apart), 2, apart, others});
    return Reshaped(Reversed(parts, {2}), Shape());
  }

  /// Returns for each element its mirror image within its run of 2 * `distance` elements.
  Pairs Mirrored(int64_t distance) const {
    const int64_t below = Below();
    const Dim others = rows_ * blocks_;
    if (distance < below) {
      const Pairs parts =
          Reshaped(pairs_, {chunks_ * below / (2 * distance), 2 * distance, Width()});
      return Reshaped(Reversed(parts, {1}), Shape());
    }
    const int64_t apart = distance / below;
    const Pairs parts = Reshaped(pairs_, {chunks_, below, above_ / (2 * apart), 2 * apart, others});
    return Reshaped(Reversed(parts, {1, 3}), Shape());
  }

  /// Returns whether the bit of value `distance` is set in an element's number.
  Formula IsUpper(int64_t distance) const {
    const NodeContext& node = pairs_.values.node();
    const auto bit = [&](int64_t numbers, int64_t value) {
      const Formula number = Iota(node, 0, numbers);
      const Formula masked = And(number, number.Number(static_cast<double>(value)));
      return Not(Equal(masked, number.Number(0)));
    };
    if (distance < Below()) {
      std::vector<Dim> shape = Shape();
      shape.front() = 1;
      std::fill(shape.begin() + 3, shape.end(), 1);
      return bit(Below(), distance).Reshape(shape);
    }
    // There are fewer rows than lanes, because otherwise above_ would be 1.
    const Formula above = bit(above_, distance / Below()).Unsqueeze(1);
    return above.Expand({above_, rows_ * blocks_}).Reshape({1, 1, 1, Width()});
  }

  /// Compares each element with its partner. The one that comes first gets the lower number.
  void Exchange(int64_t distance, const Pairs& partners) {
    const Formula stays = Apply(Op::kXor, {Precedes(pairs_, partners), IsUpper(distance)});
    pairs_ = Select(stays, pairs_, partners);
  }

  /// Moves upper bits of the elements' numbers into the lines until a line fills a vector.
  void Widen() {
    const int64_t times = AboveFor(blocks_) / above_;
    if (times == 1) return;
    const std::vector<Dim> parts = {chunks_, times, Below() / times, above_, rows_ * blocks_};
    above_ *= times;
    pairs_ = Each(pairs_, [&](const Formula& x) {
      return x.Reshape(parts).Transpose({0, 2, 3, 1, 4}).Reshape(Shape());
    });
  }

  int64_t size_;
  int64_t chunks_;
  Dim rows_;  // the rows of a chunk
  // A power of two. So there are few sizes and few kernels, and halving needs no padding.
  int64_t blocks_;
  int64_t above_;
  Pairs pairs_;  // has shape Shape()
};

Formula CountTo(const Formula& like, int64_t count) {
  return Iota(like.node(), 0, count).Cast(DataType::kI32);
}

Formula Reduced(Op op, const Formula& x, int64_t axis, bool keepdims = false) {
  return Apply(op, {x}, {{"axes", std::vector<int64_t>{axis}}, {"keepdims", int64_t{keepdims}}});
}

// Returns the positions of the first k elements along the middle axis of pairs [outer, n, inner].
// The result is [outer, k, inner], in the order of the elements.
Formula Counted(const Pairs& pairs, int64_t k) {
  const Pairs own = Each(pairs, [](const Formula& x) { return x.Unsqueeze(2); });
  const Pairs other = Each(pairs, [](const Formula& x) { return x.Unsqueeze(1); });
  const Formula before = Precedes(other, own);
  const Formula ranks = Sum(before.Cast(DataType::kI32), {2}).Unsqueeze(1);  // [outer, 1, n, inner]
  const Formula is_here = Equal(ranks, CountTo(ranks, k).Reshape({k, 1, 1}));
  const Formula positions = pairs.positions.Unsqueeze(1);
  return Reduced(Op::kReduceMax, Where(is_here, positions, positions.Number(0)), 2);
}

OrderPlanner PlannerOf(const Dim& rows) {
  return OrderPlanner(rows.AsConstant().value_or(kTypicalRows));
}

// Rows of pairs along the middle axis of [outer, length, inner].
struct Rows {
  Pairs pairs;  // positions may be [1, length, 1] if all rows share them
  int64_t length = 1;
  Dim outer = 1;
  Dim inner = 1;
  // The values, if the position of a pair is its index in the row.
  std::optional<Comparable> elements;

  Dim Count() const { return outer * inner; }
  /// Returns the length of a piece, rounded up.
  int64_t PieceOf(int64_t pieces) const { return (length + pieces - 1) / pieces; }
  /// Returns [outer, n, inner] as [rows, n], or [1, n, 1] as [1, n].
  static Formula Turned(const Formula& x) {
    if (!x.ok()) return x;
    const std::vector<Dim> dims = x.shape();
    return x.Transpose({0, 2, 1}).Reshape({dims[0] * dims[2], dims[1]});
  }
  /// Returns the first pair of each piece. Element i of a row is in the piece i mod `pieces`.
  Rows FirstOfPieces(int64_t pieces) const {
    const int64_t piece = PieceOf(pieces);
    const auto divided = [&](const Formula& x) {
      if (!x.ok()) return x;
      const std::vector<Dim> dims = x.shape();
      return x.Reshape({dims[0], piece, pieces, dims[2]});
    };
    const auto first_of = [](const Pairs& parts) -> Pairs {
      const Formula greatest = Reduced(Op::kReduceMax, parts.values, 1, true);
      const Formula none = parts.positions.Number(static_cast<double>(kLastPosition));
      const Formula places = Where(Equal(parts.values, greatest), parts.positions, none);
      return {greatest, Reduced(Op::kReduceMin, places, 1, true)};
    };
    const auto rows = [&](const Pairs& first) -> Rows {
      return {Reshaped(first, {outer, pieces, inner}), pieces, outer, inner, std::nullopt};
    };
    if (!elements) return rows(first_of(Each(pairs, divided)));
    // A position is computed from the index in the piece. An array of all positions of a row would
    // be as large as the row.
    const Formula padded =
        Padded(elements->values, 1, piece * pieces - length, LastValue(*elements));
    const Formula index = CountTo(padded, piece).Reshape({1, piece, 1, 1});
    const Pairs first = first_of(PairsOf({divided(padded), elements->nan}, index));
    const Formula later = And(first.positions, index.Number(static_cast<double>(kLater)));
    const Formula number = CountTo(padded, pieces).Reshape({1, 1, pieces, 1});
    const Formula begin = ClearLater(first.positions) * static_cast<double>(pieces);
    return rows({first.values, begin + number + later});
  }
  /// Returns the pairs at i32 indices [rows, n] of their rows: [rows, n]. Pairs beyond the row come
  /// after all pairs of the row.
  Pairs At(const Formula& indices) const {
    const Dim count = indices.ok() ? indices.shape().list().back() : 0;
    // The clamp proves that indices are in range, so they are not checked at run time.
    const Formula inside = Clamp(indices, 0, static_cast<double>(length - 1));
    const Formula turned = inside.Reshape({outer, inner, count}).Transpose({0, 2, 1});
    const auto taken = [&](const Formula& x) {
      return Turned(Apply(Op::kGatherElements, {x, turned}, {{"axis", int64_t{1}}}));
    };
    if (!elements) return Each(pairs, taken);
    const Formula is_inside = Less(indices, indices.Number(static_cast<double>(length)));
    const Formula values = taken(elements->values);
    const Formula all = Where(is_inside, values, values.Number(LastValue(*elements)));
    return PairsOf({all, elements->nan}, indices);
  }
};

// Returns the positions of the first k pairs of each row of [rows, length]. Halves the number of
// sorted blocks until one is left, or so few pairs that counting is faster.
Formula FirstByNetwork(const Pairs& pairs, const Dim& rows, int64_t length, int64_t k) {
  const int64_t size = RoundUpToPower(k);
  Blocks blocks(pairs, rows, length, size);
  blocks.Sort();
  const OrderPlanner planner = PlannerOf(rows);
  const auto counting_is_faster = [&] {
    const double halving = planner.HalvingCost(blocks.blocks(), size);
    return planner.CountCost(blocks.Candidates(), k) < halving;
  };
  while (blocks.blocks() > 1 && !counting_is_faster()) blocks.Halve();
  if (blocks.blocks() == 1) return blocks.First(k);
  return Counted(blocks.All(), k).Transpose({0, 2, 1}).Reshape({rows, k});
}

// Returns the positions of the first k pairs of each row, found by counting or by the network.
Formula FirstOfPairs(const Pairs& pairs, const Dim& rows, int64_t length, int64_t k) {
  if (PlannerOf(rows).BestWithoutPieces(length, k).method == OrderMethod::kNetwork) {
    return FirstByNetwork(pairs, rows, length, k);
  }
  const Pairs columns = Each(pairs, [](const Formula& x) { return x.Unsqueeze(2); });
  return Counted(columns, k).Reshape({rows, k});
}

// Returns the positions of the first k pairs of each row: [rows, k]. In a long row, they are in the
// k pieces whose first pairs come first.
Formula FirstOf(const Rows& rows, int64_t k) {
  const Dim count = rows.Count();
  if (k == 1) return Rows::Turned(rows.FirstOfPieces(1).pairs.positions);
  const OrderPlan plan = PlannerOf(count).Best(rows.length, k);
  if (plan.method != OrderMethod::kPieces) {
    return FirstOfPairs(Each(rows.pairs, Rows::Turned), count, rows.length, k);
  }
  const Formula chosen = FirstOf(rows.FirstOfPieces(plan.pieces), k);
  // The number of pieces is a power of two for all levels of pieces. So the lower bits of a
  // position are the number of its piece.
  const Formula pieces = And(chosen, chosen.Number(static_cast<double>(plan.pieces - 1)));
  const int64_t piece = rows.PieceOf(plan.pieces);
  const Formula steps = CountTo(chosen, piece) * static_cast<double>(plan.pieces);
  const Formula indices = (pieces.Unsqueeze(2) + steps).Reshape({count, k * piece});
  return FirstOfPairs(rows.At(indices), count, k * piece, k);
}

}  // namespace

Formula FirstPositions(const Formula& x, int64_t axis, int64_t k, bool largest) {
  const NodeContext& node = x.node();
  const auto length = x.Extent(axis);
  if (!length) return {node, std::unexpected(length.error())};
  std::vector<Dim> shape = x.shape();
  const auto at = static_cast<size_t>(axis);
  const Dim outer = x.shape().Elements(0, at);
  const Dim inner = x.shape().Elements(at + 1);
  const int64_t rows = (outer * inner).AsConstant().value_or(1);
  if (!(outer * inner).IsKnown() || MultiplySizes(rows, *length) > kMostElements) {
    return {node, Fail(ErrorCode::kUnsupported, "more than {} elements in order", kMostElements)};
  }
  shape[at] = k;
  Comparable row = ComparableOf(x, largest);
  row.values = row.values.Reshape({outer, *length, inner});
  const Pairs pairs = PairsOf(row, CountTo(row.values, *length).Reshape({1, *length, 1}));
  const Formula first = ClearLater(FirstOf({pairs, *length, outer, inner, row}, k));
  const Formula positions = first.Cast(DataType::kI64);
  // The clamp proves that indices are in range, so they are not checked at run time.
  return Clamp(positions, 0, static_cast<double>(*length - 1))
      .Reshape({outer, inner, k})
      .Transpose({0, 2, 1})
      .Reshape(shape);
}

}  // namespace tunec::onnx_import
