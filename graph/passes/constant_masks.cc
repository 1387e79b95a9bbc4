#include "graph/passes/constant_masks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/passes/largest_magnitude.h"

namespace tunec {
namespace {

using Axes = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kMask = 3;
constexpr size_t kMostAxes = 8;  // number of axes of operands whose blocks become heads
// Masks of more different elements are not examined.
constexpr int64_t kMostElements = int64_t{1} << 25;
// The share of scores that a band must hide if the mask stays.
constexpr double kWorthHiding = 0.25;

// An array of bool or float, with the numbers that its elements stand for.
struct KnownMask {
  const Array* array = nullptr;
  std::optional<std::array<double, 2>> numbers;  // numbers for false and true
};

std::optional<KnownMask> AsKnown(const Graph& graph, ValueId mask, bool negate) {
  const Node& node = graph.producer(mask);
  if (node.op == Op::kNot) return AsKnown(graph, node.inputs[0], !negate);
  if (const Array* constant = graph.ConstantOf(mask)) {
    if (constant->type() != DataType::kBool) return KnownMask{constant, {}};
    return KnownMask{constant, negate ? std::array{0.0, -kInfinity} : std::array{-kInfinity, 0.0}};
  }
  if (node.op != Op::kWhere) return {};
  const Array* condition = graph.ConstantOf(node.inputs[0]);
  const std::optional<double> if_true = NumberOf(graph, node.inputs[1]);
  const std::optional<double> if_false = NumberOf(graph, node.inputs[2]);
  if (condition == nullptr || !if_true || !if_false) return {};
  if (graph.value(node.inputs[0]).type.dims != graph.value(mask).type.dims) return {};
  return KnownMask{condition, std::array{*if_false, *if_true}};
}

// Returns whether all parts of `elements` elements have equal bytes.
bool HasEqualParts(const Array& array, int64_t elements) {
  const size_t bytes = static_cast<size_t>(elements) * SizeOf(array.type());
  for (size_t at = bytes; at < array.bytes(); at += bytes)
    if (std::memcmp(array.data(), array.data() + at, bytes) != 0) return false;
  return true;
}

// Hides the scores that the node's attributes hide.
void HideOutside(const Node& attention, MaskNumbers& mask) {
  if (attention.Int("causal") == 0) return;
  const int64_t last = attention.Int("causal_offset");
  const int64_t window = attention.Int("window");
  for (size_t k = 0; k < mask.numbers.size(); ++k) {
    const int64_t distance = mask.Distance(k);
    const bool inside = distance <= last && (window == 0 || distance > last - window);
    if (!inside) mask.numbers[k] = -kInfinity;
  }
}

bool EveryRowSees(const MaskNumbers& mask) {
  for (auto row = mask.numbers.begin(); row != mask.numbers.end(); row += mask.columns)
    if (std::all_of(row, row + mask.columns, [](double x) { return x == -kInfinity; }))
      return false;
  return true;
}

// Replaces finite numbers that hide scores by -inf, if this changes no result. Returns whether
// results stay: each number is 0 or at most `lowest`, and each row has a visible score.
bool HideByInfinity(MaskNumbers& mask, double lowest) {
  MaskNumbers changed = mask;
  for (double& number : changed.numbers) {
    if (number <= lowest) number = -kInfinity;
    if (number != 0 && number != -kInfinity) return false;
  }
  if (!EveryRowSees(changed)) return false;
  mask = std::move(changed);
  return true;
}

// Returns the size of the first block on the diagonal: no score is visible whose row and column are
// on different sides of its end.
int64_t FirstBlock(const MaskNumbers& mask) {
  std::vector<int64_t> farthest(static_cast<size_t>(mask.rows), 0);
  for (int64_t i = 0; i < mask.rows; ++i) {
    for (int64_t j = 0; j < mask.columns; ++j) {
      if (mask.numbers[i * mask.columns + j] == -kInfinity) continue;
      int64_t& far = farthest[std::min(i, j)];
      far = std::max({far, i, j});
    }
  }
  int64_t end = 0;
  for (int64_t i = 0; i < mask.rows; ++i) {
    if (i > end) return i;
    end = std::max(end, farthest[i]);
  }
  return mask.rows;
}

// Returns the mask of one block if the mask consists of equal blocks on the diagonal. Returns
// nothing if there is one block, or if a block has fewer rows than `fewest`.
std::optional<MaskNumbers> BlockOf(const MaskNumbers& mask, int64_t fewest) {
  const int64_t size = mask.rows;
  if (size != mask.columns || std::ssize(mask.numbers) != size * size) return {};
  const int64_t block = FirstBlock(mask);
  if (block == size || block < fewest || size % block != 0) return {};
  MaskNumbers first{.rows = block, .columns = block, .numbers = {}};
  for (int64_t i = 0; i < block; ++i) {
    const auto row = mask.numbers.begin() + i * size;
    first.numbers.insert(first.numbers.end(), row, row + block);
  }
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      const bool inside = i / block == j / block;
      const double expected = inside ? first.numbers[i % block * block + j % block] : -kInfinity;
      if (mask.numbers[i * size + j] != expected) return {};
    }
  }
  return first;
}

bool HidesNothing(const MaskNumbers& mask) {
  return std::ranges::all_of(mask.numbers, [](double number) { return number == 0; });
}

// The share of scores outside the band.
double HiddenShare(const Band& band, int64_t rows, int64_t columns) {
  int64_t visible = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t begin = std::max<int64_t>(0, i + band.first);
    const int64_t end = std::min(columns, i + band.last + 1);
    visible += std::max<int64_t>(0, end - begin);
  }
  return 1 - static_cast<double>(visible) / static_cast<double>(rows * columns);
}

/// An attention node whose mask is simplified.
class MaskSimplifier {
 public:
  MaskSimplifier(GraphBuilder& builder, const Node& attention, const PassOptions& options)
      : builder_(builder), node_(attention), options_(options) {}

  Result<std::optional<ValueId>> Run() {
    if (!ReadMask()) return std::nullopt;
    const std::vector<Dim> dims = Dims(0);
    bool changed = false;
    if (hides_by_infinity_) {
      TUNEC_ASSIGN(changed, SplitBlocks());
    }
    const bool split = changed;
    changed |= TakeBand();
    if (!changed) return std::nullopt;
    if (!split)
      return builder_.Add(Op::kAttention, node_.inputs, node_.attributes, node_.name, node_.where);
    TUNEC_ASSIGN(const ValueId y, builder_.Add(Op::kAttention, node_.inputs, node_.attributes));
    Axes shape = ValueType{DataType::kF32, dims}.Shape();
    shape.back() = Dims(2).back().Value();
    return builder_.Add(Op::kReshape, {y}, {{"shape", shape}}, node_.name, node_.where);
  }

 private:
  std::vector<Dim> Dims(size_t operand) const {
    return builder_.TypeOf(node_.inputs[operand]).dims;
  }

  // Reads the mask, with the scores that attributes hide. Returns false if the mask is not known.
  bool ReadMask() {
    if (node_.inputs.size() <= kMask || !node_.inputs[kMask].valid()) return false;
    const Graph& graph = builder_.graph();
    const std::vector<Dim> q = Dims(0), k = Dims(1);
    std::optional<MaskNumbers> mask = MaskNumbersOf(graph, node_.inputs[kMask], /*negate=*/false,
                                                    q[q.size() - 2], k[k.size() - 2]);
    if (!mask) return false;
    mask_ = *std::move(mask);
    selects_ = builder_.TypeOf(node_.inputs[kMask]).type == DataType::kBool;
    const bool is_causal = node_.Int("causal") != 0;
    hidden_ = selects_ || is_causal ? node_.Float("hidden") : -kInfinity;
    HideOutside(node_, mask_);
    const double score = LargestScore(graph, node_.inputs[0], node_.inputs[1], q.back(),
                                      node_.Float("scale"), node_.Float("softcap"));
    const bool fast = options_.rules == FloatRules::kFast;
    const double selected = fast ? kAsGoodAsMinusInfinity : kVanishes - score;
    const double added = fast ? kAsGoodAsMinusInfinity : kVanishes - 2 * score;
    // A causal limit and an added mask hide by two numbers.
    if (!selects_ && hidden_ != -kInfinity) return false;
    if (selects_ && hidden_ <= selected && EveryRowSees(mask_)) hidden_ = -kInfinity;
    if (!selects_) HideByInfinity(mask_, added);
    hides_by_infinity_ = hidden_ == -kInfinity;
    return true;
  }

  // Makes each block on the diagonal a head, if the mask consists of such blocks. The last batch
  // axes of the operands are then heads and blocks.
  Result<bool> SplitBlocks() {
    for (const size_t operand : {0, 1, 2}) {
      const ValueType& type = builder_.TypeOf(node_.inputs[operand]);
      // All heads of queries need their own keys.
      const std::vector<Dim> q = Dims(0);
      if (!type.IsFixed() || q.size() > kMostAxes) return false;
      if (!std::equal(q.begin(), q.end() - 1, type.dims.begin())) return false;
    }
    const std::optional<MaskNumbers> block = BlockOf(mask_, options_.machine.fewest_queries);
    if (!block) return false;
    const int64_t blocks = mask_.rows / block->rows;
    for (const size_t operand : {0, 1, 2}) {
      Axes shape = builder_.TypeOf(node_.inputs[operand]).Shape();
      shape.insert(shape.end() - 2, blocks);
      shape[shape.size() - 2] = block->rows;
      TUNEC_ASSIGN(node_.inputs[operand],
                   builder_.Add(Op::kReshape, {node_.inputs[operand]}, {{"shape", shape}}));
    }
    mask_ = *block;
    for (const char* name : {"causal", "causal_offset", "window", "hidden"})
      node_.attributes.erase(name);
    node_.inputs.resize(kMask);
    if (!HidesNothing(mask_)) node_.inputs.push_back(builder_.AddConstant("mask", MaskArray()));
    return true;
  }

  Array MaskArray() const {
    const DataType type = selects_ ? DataType::kBool : builder_.TypeOf(node_.inputs[0]).type;
    Array array(type, {mask_.rows, mask_.columns});
    for (int64_t k = 0; k < array.size(); ++k) {
      const double number = mask_.numbers[k];
      array.SetDouble(k, selects_ ? (number == 0 ? 1 : 0) : number);
    }
    return array;
  }

  // Replaces the mask by the attributes of a band, or adds the attributes if enough is outside.
  bool TakeBand() {
    const std::optional<Band> band = BandOf(mask_, -kInfinity);
    if (!band) return false;
    if (!band->is_exact && !(hides_by_infinity_ && IsWorthwhile(*band))) return false;
    node_.attributes["causal"] = int64_t{1};
    node_.attributes["causal_offset"] = band->last;
    node_.attributes.erase("window");
    if (band->window != 0) node_.attributes["window"] = band->window;
    node_.attributes.erase("hidden");
    if (!hides_by_infinity_) node_.attributes["hidden"] = hidden_;
    if (band->is_exact) node_.inputs.resize(kMask);
    return true;
  }

  // Returns whether the band hides many scores that attributes do not hide yet.
  bool IsWorthwhile(const Band& band) const {
    const bool is_known = node_.Int("causal") != 0 && node_.Int("causal_offset") <= band.last &&
                          node_.Int("window") == band.window;
    return !is_known && HiddenShare(band, mask_.rows, mask_.columns) >= kWorthHiding;
  }

  GraphBuilder& builder_;
  Node node_;
  const PassOptions& options_;
  MaskNumbers mask_;
  bool selects_ = false;            // the mask is a bool mask
  double hidden_ = -kInfinity;      // number of scores that a bool mask hides
  bool hides_by_infinity_ = false;  // all hidden scores can be -inf
};

}  // namespace

std::optional<double> NumberOf(const Graph& graph, ValueId value) {
  const Array* constant = graph.ConstantOf(value);
  if (constant == nullptr || constant->size() != 1 || !IsFloat(constant->type())) return {};
  return constant->GetDouble(0);
}

std::optional<MaskNumbers> MaskNumbersOf(const Graph& graph, ValueId mask, bool negate,
                                         const Dim& queries, const Dim& keys) {
  const std::vector<Dim>& dims = graph.value(mask).type.dims;
  const size_t rank = dims.size();
  if (rank < 2 || dims[rank - 2] != queries || dims[rank - 1] != keys) return {};
  if (!queries.IsConstant() || !keys.IsConstant()) return {};
  const std::optional<KnownMask> known = AsKnown(graph, mask, negate);
  if (!known || known->array->size() == 0) return {};
  MaskNumbers result{.rows = queries.Value(), .columns = keys.Value(), .numbers = {}};
  const int64_t matrix = result.rows * result.columns;
  const int64_t size = HasEqualParts(*known->array, matrix) ? matrix : known->array->size();
  if (size > kMostElements) return {};
  result.numbers.reserve(static_cast<size_t>(size));
  for (int64_t k = 0; k < size; ++k) {
    const double value = known->array->GetDouble(k);
    result.numbers.push_back(known->numbers ? (*known->numbers)[value != 0 ? 1 : 0] : value);
  }
  return result;
}

std::optional<Band> BandOf(const MaskNumbers& mask, double lowest) {
  Band band{.first = mask.columns, .last = -mask.rows, .hidden = -kInfinity};
  for (size_t k = 0; k < mask.numbers.size(); ++k) {
    const double number = mask.numbers[k];
    if (number <= lowest) {
      band.hidden = std::max(band.hidden, number);
      continue;
    }
    band.is_exact &= number == 0;
    band.first = std::min(band.first, mask.Distance(k));
    band.last = std::max(band.last, mask.Distance(k));
  }
  const bool hides_below = band.first > 1 - mask.rows;
  if (band.first > band.last || (!hides_below && band.last >= mask.columns - 1)) return {};
  if (hides_below) band.window = band.last - band.first + 1;
  for (size_t k = 0; k < mask.numbers.size() && band.is_exact; ++k) {
    const bool inside = band.first <= mask.Distance(k) && mask.Distance(k) <= band.last;
    band.is_exact = !inside || mask.numbers[k] == 0;
  }
  return band;
}

bool EveryRowSees(const Band& band, const Dim& queries, const Dim& keys) {
  if (!queries.IsConstant() || !keys.IsConstant()) return false;
  return band.last >= 0 && queries.Value() - 1 + band.first <= keys.Value() - 1;
}

double LargestScore(const Graph& graph, ValueId q, ValueId k, const Dim& depth, double scale,
                    double softcap) {
  if (!depth.IsConstant()) return kInfinity;
  const double score = static_cast<double>(depth.Value()) * std::abs(scale) *
                       LargestMagnitude(graph, q) * LargestMagnitude(graph, k);
  // A product of 0 and infinity is no bound.
  if (std::isnan(score)) return kInfinity;
  return softcap > 0 ? std::min(score, softcap) : score;
}

Result<std::optional<ValueId>> AddWithSimplerMask(GraphBuilder& builder, const Node& attention,
                                                  const PassOptions& options) {
  return MaskSimplifier(builder, attention, options).Run();
}

}  // namespace tunec
