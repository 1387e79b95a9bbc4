// Selection of the first k elements of each row (docs/decisions/0030_top_k_by_networks.md). A long
// row is divided into pieces, and the pieces' maxima show which pieces can contain the first
// elements. The elements of these pieces are sorted by a bitonic network over pairs of a value and
// its original position. A row is divided into blocks of K >= k elements; K is a power of two. All
// blocks are sorted in the same way. Then the number of blocks is halved repeatedly. To merge two
// sorted blocks, element i of one block is compared with element K - 1 - i of the other block. The
// elements that precede in these comparisons are the first K elements of both blocks, and log K
// exchanges sort them.
//
// A stage compares every element with a partner, for all blocks of all rows at once. So elements
// with the same number in all blocks are consecutive in memory. Pairs are arranged as
// [K, blocks * rows]. A line has one index of the first axis. Stages are elementwise operators,
// which usually compare the elements of one line with those of another. If blocks * rows is less
// than the number of lanes of a vector, the upper bits of an element's number are also part of the
// index in a line.
//
// Few elements are ranked by counting instead: the rank of an element is the number of elements
// that precede it in the row's order. For k = 1, reductions find the first element.
//
// The number of rows may be named. All numbers of rows are then sorted in the same way: lines fill
// vectors even if there is one row, and only short rows are ranked by counting.
#include "graph/onnx/handlers/order.h"

#include <algorithm>
#include <bit>

#include "graph/onnx/handlers/order_pairs.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

// Number of contiguous elements that is enough to fill a vector.
constexpr int64_t kLanes = 16;
// Limits for counting: elements of a row, or comparisons in all rows. Within either limit, rows are
// ranked by counting, because each stage of a network is a kernel.
constexpr int64_t kMostCounted = 32;
constexpr int64_t kMostComparisons = int64_t{1} << 17;
// Least length of a row that is searched by pieces first, as a multiple of k.
constexpr int64_t kLeastPieces = 16;
// Largest extent of the axis that separates parallel tasks.
constexpr int64_t kTasks = 64;

// Blocks of `size` elements. Element c * below + a of a block is at
// [a, (c * blocks + block) * rows + row]. There are `below` values of a and `above` values of c;
// both numbers are powers of two.
class Blocks {
 public:
  /// Constructs unsorted blocks from pairs [rows, length]. The positions may be [1, length] if all
  /// rows share them.
  Blocks(const Pairs& pairs, const Dim& rows, int64_t length, int64_t size)
      : size_(size),
        rows_(rows),
        blocks_(BlocksFor((length + size - 1) / size)),
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
    const Pairs whole = Reshaped(pairs_, {Below(), above_, rows_ * blocks_});
    blocks_ /= 2;
    const auto part = [&](const Dim& begin) {
      return Each(whole,
                  [&](const Formula& x) { return x.Slice(2, begin, begin + rows_ * blocks_); });
    };
    const Pairs first = Reshaped(part(0), Shape());
    const Pairs second = Reshaped(Reversed(part(rows_ * blocks_), {0, 1}), Shape());
    pairs_ = Select(Precedes(first, second), first, second);
    Widen();
    MergeBitonic(size_ / 2);
  }

  /// Returns all pairs, unsorted, as [outer, candidates, inner] with outer * inner rows.
  Pairs All() const {
    Pairs columns = Reshaped(pairs_, {1, Candidates(), rows_});
    if (LeastRows() >= kLanes) return columns;
    return Each(columns, [](const Formula& x) { return x.Transpose({2, 1, 0}); });
  }

  /// Returns the positions of the first k elements of the only block: [rows, k].
  Formula First(int64_t k) const {
    return pairs_.positions.Reshape({Below(), above_, rows_})
        .Transpose({2, 1, 0})
        .Reshape({rows_, size_})
        .Slice(1, 0, k);
  }

 private:
  int64_t Below() const { return size_ / above_; }
  Dim Width() const { return rows_ * (above_ * blocks_); }
  /// Returns the number of rows, or 1 if it is named.
  int64_t LeastRows() const { return rows_.AsConstant().value_or(1); }
  /// Returns the shape in which pairs are stored: tasks, lines of a task, and elements of a line.
  /// If rows fill vectors they have a separate axis, so that loading the input is only a
  /// transposition.
  std::vector<Dim> Shape() const {
    const int64_t tasks = std::min(Below(), kTasks);
    if (LeastRows() < kLanes) return {tasks, Below() / tasks, Width()};
    return {tasks, Below() / tasks, above_ * blocks_, rows_};
  }

  /// Returns `least` rounded up to a power of two, as the number of blocks. So there are few sizes
  /// and few kernels, and halving needs no padding.
  static int64_t BlocksFor(int64_t least) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
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
      const Dim rows = x.ok() ? x.shape().list()[0] : 0;
      const Formula turned = in_input_order
                                 ? x.Reshape({rows, Below(), beside}).Transpose({1, 2, 0})
                                 : x.Reshape({rows, beside, Below()}).Transpose({2, 1, 0});
      return turned.Expand({Below(), beside, rows_}).Reshape(Shape());
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
      const Pairs parts = Reshaped(pairs_, {below / (2 * distance), 2, distance, Width()});
      return Reshaped(Reversed(parts, {1}), Shape());
    }
    const int64_t apart = distance / below;
    const Pairs parts = Reshaped(pairs_, {below, above_ / (2 * apart), 2, apart, others});
    return Reshaped(Reversed(parts, {2}), Shape());
  }

  /// Returns for each element its mirror image within its run of 2 * `distance` elements.
  Pairs Mirrored(int64_t distance) const {
    const int64_t below = Below();
    const Dim others = rows_ * blocks_;
    if (distance < below) {
      const Pairs parts = Reshaped(pairs_, {below / (2 * distance), 2 * distance, Width()});
      return Reshaped(Reversed(parts, {1}), Shape());
    }
    const int64_t apart = distance / below;
    const Pairs parts = Reshaped(pairs_, {below, above_ / (2 * apart), 2 * apart, others});
    return Reshaped(Reversed(parts, {0, 2}), Shape());
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
      std::fill(shape.begin() + 2, shape.end(), 1);
      return bit(Below(), distance).Reshape(shape);
    }
    // There are fewer rows than lanes, because otherwise above_ would be 1.
    const Formula above = bit(above_, distance / Below()).Unsqueeze(1);
    return above.Expand({above_, rows_ * blocks_}).Reshape({1, 1, Width()});
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
    const std::vector<Dim> parts = {times, Below() / times, above_, rows_ * blocks_};
    above_ *= times;
    pairs_ = Each(pairs_, [&](const Formula& x) {
      return x.Reshape(parts).Transpose({1, 2, 0, 3}).Reshape(Shape());
    });
  }

  int64_t size_;
  Dim rows_;
  int64_t blocks_;
  int64_t above_;
  Pairs pairs_;  // has shape Shape()
};

Formula CountTo(const Formula& like, int64_t count) {
  return Iota(like.node(), 0, count).Cast(DataType::kI32);
}

// Returns the elements of x at the positions along axis 1, clamped to 0..length-1. The clamp proves
// that indices are in range, so they are not checked at run time.
Formula Taken(const Formula& x, const Formula& positions, int64_t length) {
  const Formula inside = Clamp(positions, 0, static_cast<double>(length - 1));
  return Apply(Op::kGatherElements, {x, inside}, {{"axis", int64_t{1}}});
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

bool IsCounted(const Dim& rows, int64_t length) {
  if (length <= kMostCounted) return true;
  if (!rows.IsConstant()) return false;
  return MultiplySizes(rows.Value(), MultiplySizes(length, length)) <= kMostComparisons;
}

// Rows of values along the middle axis of [outer, length, inner]. In the order of a row, the
// greatest values come first. FirstOf and At use i32 positions [rows, n].
struct Rows {
  Comparable x;
  Dim outer = 1;
  int64_t length = 1;
  Dim inner = 1;

  Dim Count() const { return outer * inner; }
  /// Returns [outer, n, inner] as [rows, n].
  Formula Turned(const Formula& y) const {
    const Dim count = y.ok() ? y.shape().list()[1] : 0;
    return y.Transpose({0, 2, 1}).Reshape({Count(), count});
  }
  /// Returns the greatest element of each piece: [rows, pieces].
  Comparable GreatestOf(int64_t pieces, int64_t piece) const {
    const int64_t beyond = pieces * piece - length;
    const auto reduced = [&](Op op, const Formula& y, double last) {
      return Reduced(op, Padded(y, 1, beyond, last).Reshape({outer, pieces, piece, inner}), 2);
    };
    const double last = LastNumber(x.values.type());
    if (x.nan != NanOrder::kLast) {  // a maximum with NaN is NaN
      return {Turned(reduced(Op::kReduceMax, x.values, last)), x.nan};
    }
    const Formula greatest = reduced(Op::kReduceMax, Numbers(x), last);
    const Formula are_nan = reduced(Op::kReduceMin, IsNan(x.values).Cast(DataType::kI32), 1);
    const Formula is_nan = Equal(are_nan, are_nan.Number(1));
    return {Turned(Where(is_nan, greatest.Number(LastValue(x)), greatest)), x.nan};
  }
  /// Returns the elements at `positions`: [rows, positions]. Beyond the row, returns LastValue.
  Comparable At(const Formula& positions) const {
    const Dim count = positions.ok() ? positions.shape().list().back() : 0;
    const Formula indices = positions.Reshape({outer, inner, count}).Transpose({0, 2, 1});
    const Formula taken = Turned(Taken(x.values, indices, length));
    const Formula is_inside = Less(positions, positions.Number(static_cast<double>(length)));
    return {Where(is_inside, taken, taken.Number(LastValue(x))), x.nan};
  }
};

Rows RowsOf(const Comparable& matrix) {
  const auto dims = matrix.values.Dims<2>();
  const auto length = matrix.values.Extent(1);
  if (!dims || !length) return {matrix};
  const Dim& rows = (*dims)[0];
  return {{matrix.values.Reshape({rows, *length, 1}), matrix.nan}, rows, *length, 1};
}

Formula FirstOf(const Rows& rows, int64_t k);

// Returns the positions of the first k pairs of each row of [rows, length]. Halves the number of
// sorted blocks until one is left, or few enough pairs for counting.
Formula FirstByNetwork(const Pairs& pairs, const Dim& rows, int64_t length, int64_t k) {
  const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)));
  Blocks blocks(pairs, rows, length, size);
  blocks.Sort();
  while (blocks.blocks() > 1 && !IsCounted(rows, blocks.Candidates())) blocks.Halve();
  if (blocks.blocks() == 1) return blocks.First(k);
  return Counted(blocks.All(), k).Transpose({0, 2, 1}).Reshape({rows, k});
}

// Returns the positions of the first k pairs of each row, found by counting if IsCounted, else by
// the network.
Formula FirstOfPairs(const Pairs& pairs, const Dim& rows, int64_t length, int64_t k) {
  if (!IsCounted(rows, length)) return FirstByNetwork(pairs, rows, length, k);
  const Pairs columns = Each(pairs, [](const Formula& x) { return x.Unsqueeze(2); });
  return Counted(columns, k).Reshape({rows, k});
}

Formula Greatest(const Rows& rows) {
  const Formula numbers = Numbers(rows.x);
  const Formula counted = CountTo(numbers, rows.length).Unsqueeze(1);
  const Formula positions = PairsOf(rows.x, counted).positions;
  const Formula is_greatest = Equal(numbers, Reduced(Op::kReduceMax, numbers, 1, true));
  const Formula none = positions.Number(static_cast<double>(kLastPosition));
  const Formula first = Reduced(Op::kReduceMin, Where(is_greatest, positions, none), 1);
  return ClearLater(first).Reshape({rows.Count(), 1});
}

bool IsCut(const Dim& rows, int64_t length, int64_t k) {
  return !IsCounted(rows, length) && length >= kLeastPieces * k;
}

// Returns the positions of the first k elements. These elements are in the k pieces whose greatest
// elements come first. Each of the greatest elements of these pieces is equal to, or comes before,
// every element of the other pieces.
Formula FirstInPieces(const Rows& rows, int64_t k, int64_t piece) {
  const Dim count = rows.Count();
  const int64_t pieces = (rows.length + piece - 1) / piece;
  const int64_t candidates = k * piece;
  const bool is_cut = IsCut(count, candidates, k);
  Formula chosen = FirstOf(RowsOf(rows.GreatestOf(pieces, piece)), k);
  // If candidates are divided into pieces again, sorts the chosen pieces by position. So equal
  // candidates stay in the order of the row.
  if (is_cut) chosen = FirstOfPairs({Not(chosen), chosen}, count, k, k);
  const Formula begins = (chosen * static_cast<double>(piece)).Unsqueeze(2);
  const Formula positions = (begins + CountTo(chosen, piece)).Reshape({count, candidates});
  const Comparable taken = rows.At(positions);
  if (!is_cut) return ClearLater(FirstOfPairs(PairsOf(taken, positions), count, candidates, k));
  return Taken(positions, FirstOf(RowsOf(taken), k), candidates);
}

// Returns the length of a piece: a power of two for which both pieces and candidates are few.
int64_t PieceFor(int64_t length, int64_t k) {
  int64_t piece = 2;
  while (4 * piece * piece * k <= length) piece *= 2;
  return piece;
}

Formula FirstOf(const Rows& rows, int64_t k) {
  if (k == 1) return Greatest(rows);
  if (IsCut(rows.Count(), rows.length, k)) {
    return FirstInPieces(rows, k, PieceFor(rows.length, k));
  }
  const Formula positions = CountTo(rows.x.values, rows.length).Unsqueeze(0);
  const Comparable turned{rows.Turned(rows.x.values), rows.x.nan};
  return ClearLater(FirstOfPairs(PairsOf(turned, positions), rows.Count(), rows.length, k));
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
  const Formula positions = FirstOf({row, outer, *length, inner}, k).Cast(DataType::kI64);
  // The clamp proves that indices are in range, so they are not checked at run time.
  return Clamp(positions, 0, static_cast<double>(*length - 1))
      .Reshape({outer, inner, k})
      .Transpose({0, 2, 1})
      .Reshape(shape);
}

}  // namespace tunec::onnx_import
