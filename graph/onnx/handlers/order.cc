// Which elements of a row come first (docs/decisions/0030_top_k_by_networks.md). Of long rows the
// pieces that can hold them are found by their maxima. What is left is put in order by a bitonic
// network over pairs of a value and the place where it stood. A row is cut into blocks of K >= k
// elements, K a power of two; all blocks are sorted alike, and then halved in number: of two sorted
// blocks, the better one of each element and its mirror image are the K best, in an order that
// log K exchanges mend.
//
// A stage compares every element with the one at a certain distance, for all blocks of all rows at
// once. So what lies side by side in memory is no block, but elements of the same number of all
// blocks: pairs are [K, blocks * rows], stages are elementwise operators on lines of that, and read
// their partners in another line. Where blocks and rows are fewer than a vector has lanes, the
// upper bits of an element's number lie beside them, too.
//
// Few elements are counted instead: each one's number in the order is how many come before it.
#include "graph/onnx/handlers/order.h"

#include <algorithm>
#include <bit>

#include "graph/onnx/handlers/order_pairs.h"
#include "ir/sizes.h"

namespace tunec::onnx_import {
namespace {

// Elements beside each other that fill a vector.
constexpr int64_t kLanes = 16;
// What costs no more than the stages of a network, each a kernel: so many elements of a row, or so
// many comparisons in all rows.
constexpr int64_t kMostCounted = 32;
constexpr int64_t kMostComparisons = int64_t{1} << 17;
// Rows of at least so many times k elements are looked through piece by piece first.
constexpr int64_t kLeastPieces = 16;
// Rows of elements that are tasks, for any number of threads.
constexpr int64_t kTasks = 64;

// Blocks of `size` elements, of which element c * below + a lies at
// [a, (c * blocks + block) * rows + row]: `below` and `above` numbers, powers of two, of each part.
class Blocks {
 public:
  /// Of pairs [rows, length], greatest values first; places may be the same in all rows.
  Blocks(const Pairs& pairs, int64_t rows, int64_t length, int64_t size)
      : size_(size),
        rows_(rows),
        blocks_(BlocksFor((length + size - 1) / size)),
        above_(AboveFor(blocks_)),
        pairs_(Load(Padded(pairs, Candidates() - length))) {}

  int64_t Candidates() const { return size_ * blocks_; }
  int64_t blocks() const { return blocks_; }

  /// Puts the elements of each block in order.
  void Sort() {
    for (int64_t sorted = 1; sorted < size_; sorted *= 2) {
      Exchange(sorted, Mirrored(sorted));
      Mend(sorted / 2);
    }
  }

  /// Of every two blocks, the best `size` elements, in order. Requires: in order.
  void Halve() {
    const Pairs whole = Reshaped(pairs_, {Below(), above_, blocks_ * rows_});
    blocks_ /= 2;
    const auto part = [&](int64_t begin) {
      return Each(whole,
                  [&](const Formula& x) { return x.Slice(2, begin, begin + blocks_ * rows_); });
    };
    const Pairs first = Reshaped(part(0), Shape());
    const Pairs second = Reshaped(Reversed(part(blocks_ * rows_), {0, 1}), Shape());
    pairs_ = Select(Precedes(first, second), first, second);
    Widen();
    Mend(size_ / 2);
  }

  /// In no order, as [outer, candidates, inner] with outer * inner rows.
  Pairs All() const {
    Pairs columns = Reshaped(pairs_, {1, Candidates(), rows_});
    if (rows_ >= kLanes) return columns;
    return Each(columns, [](const Formula& x) { return x.Transpose({2, 1, 0}); });
  }

  /// The places of the first k of the only block: [rows, k].
  Formula First(int64_t k) const {
    return pairs_.places.Reshape({Below(), above_, rows_})
        .Transpose({2, 1, 0})
        .Reshape({rows_, size_})
        .Slice(1, 0, k);
  }

 private:
  int64_t Below() const { return size_ / above_; }
  int64_t Width() const { return above_ * blocks_ * rows_; }
  /// As pairs are stored: lines of elements, those that are tasks apart. Where rows fill vectors
  /// they have an axis of their own, so that turning the input is a transposition and no more.
  std::vector<int64_t> Shape() const {
    const int64_t tasks = std::min(Below(), kTasks);
    if (rows_ < kLanes) return {tasks, Below() / tasks, Width()};
    return {tasks, Below() / tasks, above_ * blocks_, rows_};
  }

  /// Few sizes have few kernels, and halves without paddings.
  static int64_t BlocksFor(int64_t least) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
  }

  int64_t AboveFor(int64_t blocks) const {
    int64_t above = 1;
    while (above < size_ && above * blocks * rows_ < kLanes) above *= 2;
    return above;
  }

  /// Where an element is put at first makes no difference: as it lies, or so that what is turned
  /// has long lines.
  Pairs Load(const Pairs& pairs) const {
    const int64_t beside = above_ * blocks_;
    const bool as_it_lies = rows_ == 1 || beside >= kLanes;
    return Each(pairs, [&](const Formula& x) {
      const int64_t rows = x.ok() ? x.shape().list()[0] : 0;
      const Formula turned = as_it_lies ? x.Reshape({rows, Below(), beside}).Transpose({1, 2, 0})
                                        : x.Reshape({rows, beside, Below()}).Transpose({2, 1, 0});
      return turned.Expand({Below(), beside, rows_}).Reshape(Shape());
    });
  }

  /// Sorts what is in order but for exchanges of elements at these distances, the halves, ...
  void Mend(int64_t distance) {
    for (; distance >= 1; distance /= 2) Exchange(distance, Shifted(distance));
  }

  /// Each element with the one of the opposite bit `distance` of its number.
  Pairs Shifted(int64_t distance) const {
    const int64_t below = Below();
    const int64_t others = Width() / above_;
    if (distance < below) {
      const Pairs parts = Reshaped(pairs_, {below / (2 * distance), 2, distance, Width()});
      return Reshaped(Reversed(parts, {1}), Shape());
    }
    const int64_t apart = distance / below;
    const Pairs parts = Reshaped(pairs_, {below, above_ / (2 * apart), 2, apart, others});
    return Reshaped(Reversed(parts, {2}), Shape());
  }

  /// Each element with its mirror image within blocks of twice `distance`.
  Pairs Mirrored(int64_t distance) const {
    const int64_t below = Below();
    const int64_t others = Width() / above_;
    if (distance < below) {
      const Pairs parts = Reshaped(pairs_, {below / (2 * distance), 2 * distance, Width()});
      return Reshaped(Reversed(parts, {1}), Shape());
    }
    const int64_t apart = distance / below;
    const Pairs parts = Reshaped(pairs_, {below, above_ / (2 * apart), 2 * apart, others});
    return Reshaped(Reversed(parts, {0, 2}), Shape());
  }

  /// Whether bit `distance` of an element's number is set.
  Formula IsUpper(int64_t distance) const {
    const NodeContext& node = pairs_.values.node();
    const auto bit = [&](int64_t numbers, int64_t value) {
      const Formula number = Iota(node, 0, numbers);
      const Formula masked = And(number, number.Number(static_cast<double>(value)));
      return Not(Equal(masked, number.Number(0)));
    };
    if (distance < Below()) {
      std::vector<int64_t> shape = Shape();
      std::fill(shape.begin() + 2, shape.end(), 1);
      return bit(Below(), distance).Reshape(shape);
    }
    // Rows are fewer than lanes, or nothing would be above.
    const Formula above = bit(above_, distance / Below()).Unsqueeze(1);
    return above.Expand({above_, Width() / above_}).Reshape({1, 1, Width()});
  }

  /// Of each element and its partner, the better one to the lower number.
  void Exchange(int64_t distance, const Pairs& partners) {
    const Formula keeps = Apply(Op::kXor, {Precedes(pairs_, partners), IsUpper(distance)});
    pairs_ = Select(keeps, pairs_, partners);
  }

  /// Makes rows as long as vectors.
  void Widen() {
    const int64_t times = AboveFor(blocks_) / above_;
    if (times == 1) return;
    const std::vector<int64_t> parts = {times, Below() / times, above_, blocks_ * rows_};
    above_ *= times;
    pairs_ = Each(pairs_, [&](const Formula& x) {
      return x.Reshape(parts).Transpose({1, 2, 0, 3}).Reshape(Shape());
    });
  }

  int64_t size_;
  int64_t rows_;
  int64_t blocks_;
  int64_t above_;
  Pairs pairs_;  // of Shape()
};

Formula CountTo(const Formula& like, int64_t count) {
  return Iota(like.node(), 0, count).Cast(DataType::kI32);
}

// Elements along axis 1. What is proven to be in range is not checked while running.
Formula Taken(const Formula& x, const Formula& places, int64_t length) {
  const Formula inside = Clamp(places, 0, static_cast<double>(length - 1));
  return Apply(Op::kGatherElements, {x, inside}, {{"axis", int64_t{1}}});
}

Formula Reduced(Op op, const Formula& x, int64_t axis, bool keep = false) {
  return Apply(op, {x}, {{"axes", std::vector<int64_t>{axis}}, {"keepdims", int64_t{keep}}});
}

// Of pairs [outer, n, inner], the places of the first k along the middle axis in order.
Formula Counted(const Pairs& pairs, int64_t k) {
  const Pairs own = Each(pairs, [](const Formula& x) { return x.Unsqueeze(2); });
  const Pairs other = Each(pairs, [](const Formula& x) { return x.Unsqueeze(1); });
  const Formula before = Precedes(other, own);
  const Formula ranks = Sum(before.Cast(DataType::kI32), {2}).Unsqueeze(1);  // [outer, 1, n, inner]
  const Formula is_here = Equal(ranks, CountTo(ranks, k).Reshape({k, 1, 1}));
  const Formula places = pairs.places.Unsqueeze(1);
  return Reduced(Op::kReduceMax, Where(is_here, places, places.Number(0)), 2);
}

bool IsCounted(int64_t rows, int64_t length) {
  const int64_t comparisons = MultiplySizes(rows, MultiplySizes(length, length));
  return length <= kMostCounted || comparisons <= kMostComparisons;
}

// Rows of values, greatest first: those along the middle axis of [outer, length, inner]. Places in
// them are i32 [rows, k].
struct Rows {
  Comparable x;
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  int64_t Count() const { return outer * inner; }
  /// [outer, n, inner] as [rows, n].
  Formula Turned(const Formula& y) const {
    const int64_t count = y.ok() ? y.shape().list()[1] : 0;
    return y.Transpose({0, 2, 1}).Reshape({Count(), count});
  }
  /// The greatest element of each piece, of as many as there are: [rows, pieces].
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
  /// Elements at places, which may be beyond the row: [rows, places].
  Comparable At(const Formula& places) const {
    const int64_t count = places.ok() ? places.shape().list().back() : 0;
    const Formula indices = places.Reshape({outer, inner, count}).Transpose({0, 2, 1});
    const Formula taken = Turned(Taken(x.values, indices, length));
    const Formula is_inside = Less(places, places.Number(static_cast<double>(length)));
    return {Where(is_inside, taken, taken.Number(LastValue(x))), x.nan};
  }
};

Rows RowsOf(const Comparable& matrix) {
  const auto extents = matrix.values.Extents<2>();
  if (!extents) return {matrix};
  const auto [rows, length] = *extents;
  return {{matrix.values.Reshape({rows, length, 1}), matrix.nan}, rows, length, 1};
}

Formula FirstOf(const Rows& rows, int64_t k);

// Of pairs [rows, length], by their places.
Formula FirstByNetwork(const Pairs& pairs, int64_t rows, int64_t length, int64_t k) {
  const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)));
  Blocks blocks(pairs, rows, length, size);
  blocks.Sort();
  while (blocks.blocks() > 1 && !IsCounted(rows, blocks.Candidates())) blocks.Halve();
  if (blocks.blocks() == 1) return blocks.First(k);
  return Counted(blocks.All(), k).Transpose({0, 2, 1}).Reshape({rows, k});
}

// Whichever is less work.
Formula FirstOfPairs(const Pairs& pairs, int64_t rows, int64_t length, int64_t k) {
  if (!IsCounted(rows, length)) return FirstByNetwork(pairs, rows, length, k);
  const Pairs columns = Each(pairs, [](const Formula& x) { return x.Unsqueeze(2); });
  return Counted(columns, k).Reshape({rows, k});
}

Formula Greatest(const Rows& rows) {
  const Formula numbers = Numbers(rows.x);
  const Formula counted = CountTo(numbers, rows.length).Unsqueeze(1);
  const Formula places = PairsOf(rows.x, counted).places;
  const Formula is_greatest = Equal(numbers, Reduced(Op::kReduceMax, numbers, 1, true));
  const Formula none = places.Number(static_cast<double>(kLastPlace));
  const Formula first = Reduced(Op::kReduceMin, Where(is_greatest, places, none), 1);
  return PlacesOf(first).Reshape({rows.Count(), 1});
}

bool IsCut(int64_t rows, int64_t length, int64_t k) {
  return !IsCounted(rows, length) && length >= kLeastPieces * k;
}

// The first k elements lie in the k pieces of the row whose greatest ones come first: each of those
// is, or comes before, an element of any other piece.
Formula FirstInPieces(const Rows& rows, int64_t k, int64_t piece) {
  const int64_t count = rows.Count();
  const int64_t pieces = (rows.length + piece - 1) / piece;
  const int64_t candidates = k * piece;
  const bool is_cut = IsCut(count, candidates, k);
  Formula chosen = FirstOf(RowsOf(rows.GreatestOf(pieces, piece)), k);
  // In the order of the row, places are numbers of candidates in another way.
  if (is_cut) chosen = FirstOfPairs({Not(chosen), chosen}, count, k, k);
  const Formula begins = (chosen * static_cast<double>(piece)).Unsqueeze(2);
  const Formula places = (begins + CountTo(chosen, piece)).Reshape({count, candidates});
  const Comparable taken = rows.At(places);
  if (!is_cut) return PlacesOf(FirstOfPairs(PairsOf(taken, places), count, candidates, k));
  return Taken(places, FirstOf(RowsOf(taken), k), candidates);
}

// A power of two that makes pieces and candidates few.
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
  const Formula places = CountTo(rows.x.values, rows.length).Unsqueeze(0);
  const Comparable turned{rows.Turned(rows.x.values), rows.x.nan};
  return PlacesOf(FirstOfPairs(PairsOf(turned, places), rows.Count(), rows.length, k));
}

}  // namespace

Formula FirstPlaces(const Formula& x, int64_t axis, int64_t k, bool largest) {
  const NodeContext& node = x.node();
  const auto length = x.Extent(axis);
  if (!length) return {node, std::unexpected(length.error())};
  std::vector<int64_t> shape = x.shape();
  const auto at = static_cast<size_t>(axis);
  const int64_t outer = Product(shape, 0, at);
  const int64_t inner = Product(shape, at + 1, shape.size());
  const int64_t elements = MultiplySizes(MultiplySizes(outer, inner), *length);
  if (outer < 0 || inner < 0 || elements > kMostElements) {
    return {node, Fail(ErrorCode::kUnsupported, "more than {} elements in order", kMostElements)};
  }
  shape[at] = k;
  Comparable row = ComparableOf(x, largest);
  row.values = row.values.Reshape({outer, *length, inner});
  const Formula places = FirstOf({row, outer, *length, inner}, k).Cast(DataType::kI64);
  // What is proven to be in range is not checked while running.
  return Clamp(places, 0, static_cast<double>(*length - 1))
      .Reshape({outer, inner, k})
      .Transpose({0, 2, 1})
      .Reshape(shape);
}

}  // namespace tunec::onnx_import
