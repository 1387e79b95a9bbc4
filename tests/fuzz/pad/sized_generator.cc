#include "tests/fuzz/pad/sized_generator.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostLeafElements = 700;
constexpr int64_t kMostElements = 3000;

using Agree = bool (*)(const AxisSizes&, const AxisSizes&);

bool IsOne(const AxisSizes& sizes) { return sizes == Fixed(1); }

// Returns true if the axes broadcast by the same rule at all sizes.
bool SameOrOne(const AxisSizes& a, const AxisSizes& b) { return a == b || IsOne(a) || IsOne(b); }

// Returns true if the axes broadcast at the drawn sizes, although other sizes might not fit.
bool HappenToFit(const AxisSizes& a, const AxisSizes& b) {
  for (const SizeSet set : kSizeSets)
    if (a[set] != b[set] && a[set] != 1 && b[set] != 1) return false;
  return true;
}

bool Broadcasts(const SizedShape& a, const SizedShape& b, Agree agree) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i)
    if (!agree(a[a.size() - i], b[b.size() - i])) return false;
  return true;
}

bool BroadcastsTo(const SizedShape& from, const SizedShape& to) {
  if (from.size() > to.size()) return false;
  for (size_t i = 1; i <= from.size(); ++i)
    if (from[from.size() - i] != to[to.size() - i] && !IsOne(from[from.size() - i])) return false;
  return true;
}

// Returns the quotient of `sizes` by `factor`, or no value if a size is not divisible.
std::optional<AxisSizes> Quotient(const AxisSizes& sizes, const AxisSizes& factor) {
  AxisSizes quotient{};
  for (const SizeSet set : kSizeSets) {
    if (factor[set] == 0 || sizes[set] % factor[set] != 0) return {};
    quotient[set] = sizes[set] / factor[set];
  }
  return quotient;
}

void Set(Array& array, int64_t i, double value) {
  if (IsFloat(array.type())) return array.SetDouble(i, value);
  array.SetInt(i, static_cast<int64_t>(IsSigned(array.type()) ? value : std::abs(value)));
}

}  // namespace

SizedGenerator::SizedGenerator(uint64_t seed) : Draws(seed) { DrawDimensions(); }

// Draws one to three dimensions. Different dimensions can have equal sizes.
void SizedGenerator::DrawDimensions() {
  for (int64_t i = Between(1, 3); i > 0; --i) {
    const int64_t bucket = OneOf<int64_t>({1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 16});
    const auto below = [&] { return Chance(12) ? bucket : Between(1, bucket); };
    AxisSizes sizes = {below(), bucket, below()};
    if (Chance(2)) sizes[kExact] = 0;
    if (IsFixed(sizes)) sizes[Chance(50) ? kExact : kOther] = std::max<int64_t>(bucket / 2, 1);
    dimensions_.push_back(sizes);
  }
}

SizedModel SizedGenerator::Make() && {
  const int64_t target_nodes = Between(1, Chance(25) ? 14 : 6);
  for (int tries = 0; nodes_ < target_nodes && tries < 200; ++tries) Step();
  ChooseOutputs();
  return {.graphs = std::move(builder_).Build(), .values = values()};
}

void SizedGenerator::Step() {
  static const std::vector<SizedRecipe> kAll = [] {
    std::vector<SizedRecipe> all;
    for (const auto family : {SizedElementwise(), SizedReductions(), SizedContractions(),
                              SizedMovements(), SizedImages(), SizedPhrases()})
      for (const SizedRecipe& recipe : family) all.insert(all.end(), recipe.weight, recipe);
    return all;
  }();
  kAll[Below(std::ssize(kAll))].draw(*this);
}

void SizedGenerator::ChooseOutputs() {
  const ValueUsers users = builder_.graph().Users();
  std::vector<ValueId> outputs;
  for (const ValueId value : known_) {
    const bool read = !users[value].empty();
    const bool leaf = KindOf(builder_.graph().producer(value).op) == OpKind::kData;
    if (std::ranges::find(outputs, value) != outputs.end()) continue;
    if (leaf ? Chance(1) : Chance(read ? 5 : 85)) outputs.push_back(value);
  }
  if (known_.empty()) Leaf(main_type(), {Dimension()});
  if (outputs.empty()) outputs.push_back(known_.back());
  while (outputs.size() > 4) outputs.erase(outputs.begin() + Below(std::ssize(outputs)));
  for (const ValueId output : outputs) builder_.AddOutput(output);
}

AxisSizes SizedGenerator::Axis() {
  if (Chance(50)) return Dimension();
  return Fixed(OneOf<int64_t>({1, 1, 2, 2, 3, 3, 4, 5, 8}));
}

SizedShape SizedGenerator::Shape(int64_t least_rank, int64_t most_rank) {
  const int64_t rank =
      std::clamp(OneOf<int64_t>({0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4}), least_rank, most_rank);
  SizedShape shape;
  int64_t elements = 1;
  for (int64_t d = 0; d < rank; ++d) {
    AxisSizes sizes = Axis();
    if (elements * sizes[kBucket] > kMostLeafElements) sizes = Fixed(OneOf<int64_t>({1, 2}));
    elements *= sizes[kBucket];
    shape.push_back(sizes);
  }
  return shape;
}

// Returns the later of two random known values, so that later values are more frequent.
ValueId SizedGenerator::Recent() {
  const int64_t size = std::ssize(known_);
  return known_[std::max(Below(size), Below(size))];
}

ValueId SizedGenerator::Operand(Domain domain, int64_t least_rank, int64_t most_rank) {
  for (int tries = 0; tries < 6 && !known_.empty() && !Chance(8); ++tries) {
    const ValueId value = Recent();
    if (Contains(domain, TypeOf(value)) && RankOf(value) >= least_rank &&
        RankOf(value) <= most_rank)
      return value;
  }
  return Leaf(TypeIn(domain), Shape(least_rank, most_rank));
}

ValueId SizedGenerator::OfType(DataType type, const SizedShape& shape) {
  for (int tries = 0; tries < 6 && !known_.empty(); ++tries) {
    const ValueId value = Recent();
    if (TypeOf(value) == type && ShapeOf(value) == shape) return value;
  }
  return Leaf(type, shape);
}

ValueId SizedGenerator::BroadcastingTo(DataType type, const SizedShape& shape) {
  for (int tries = 0; tries < 4 && !known_.empty() && Chance(70); ++tries) {
    const ValueId value = Recent();
    if (TypeOf(value) == type && BroadcastsTo(ShapeOf(value), shape)) return value;
  }
  SizedShape own(shape.begin() + Below(std::ssize(shape) + 1), shape.end());
  for (AxisSizes& sizes : own)
    if (Chance(25)) sizes = Fixed(1);
  return Leaf(type, own);
}

ValueId SizedGenerator::Partner(DataType type, const SizedShape& shape) {
  const Agree agree = Chance(10) ? HappenToFit : SameOrOne;
  for (int tries = 0; tries < 6 && !known_.empty() && Chance(85); ++tries) {
    const ValueId value = Recent();
    if (TypeOf(value) == type && Broadcasts(ShapeOf(value), shape, agree)) return value;
  }
  if (Chance(20)) return Scalar(type, OneOf({0.0, -0.0, 1.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.1}));
  return BroadcastingTo(type, shape);
}

ValueId SizedGenerator::Leaf(DataType type, const SizedShape& shape) {
  if (Chance(70)) return Input(type, shape);
  if (Chance(60)) return Table(type, shape, values());
  const int64_t axis = shape.empty() ? 0 : Below(std::ssize(shape));
  const ElementAt kinds[] = {
      [&](const Ints& position, SizeSet) { return shape.empty() ? 2.0 : double(position[axis]); },
      [&](const Ints&, SizeSet) { return 1.0; },
      [&](const Ints&, SizeSet set) { return shape.empty() ? 3.0 : double(shape[axis][set]); },
      [&](const Ints& position, SizeSet set) {
        return shape.empty() ? 4.0 : double(shape[axis][set] - 1 - position[axis]);
      }};
  known_.push_back(Constant(type, shape, kinds[Below(std::size(kinds))]));
  return known_.back();
}

bool SizedGenerator::IsDimension(const AxisSizes& sizes) const {
  return std::ranges::find(dimensions_, sizes) != dimensions_.end();
}

// Returns two factors of `sizes`, or no value. One factor is a dimension, and the other is a
// dimension or a constant.
std::optional<SizedShape> SizedGenerator::Factors(const AxisSizes& sizes) {
  for (const AxisSizes& dimension : dimensions_) {
    const std::optional<AxisSizes> rest = Quotient(sizes, dimension);
    if (!rest || !(IsFixed(*rest) || IsDimension(*rest))) continue;
    return Chance(50) ? SizedShape{dimension, *rest} : SizedShape{*rest, dimension};
  }
  return {};
}

ValueId SizedGenerator::Input(DataType type, const SizedShape& shape, const char* prefix) {
  SizedShape factors;
  // A reshape must not make a large or empty value.
  const bool as_it_is = ElementCount(ShapeAt(shape, kBucket)) > kMostElements ||
                        std::ranges::any_of(kSizeSets, [&](SizeSet set) {
                          return ElementCount(ShapeAt(shape, set)) == 0;
                        });
  for (const AxisSizes& sizes : shape) {
    const bool whole = as_it_is || IsFixed(sizes) || IsDimension(sizes) || Chance(10);
    const auto parts = whole ? std::nullopt : Factors(sizes);
    if (parts) factors.insert(factors.end(), parts->begin(), parts->end());
    if (!parts) factors.push_back(sizes);
  }
  const ValueId input = builder_.AddInput(LeafName(prefix), type, factors);
  known_.push_back(input);
  if (factors == shape) return input;
  const Drawn joined = Reshape(input, shape);
  TUNEC_CHECK(joined.has_value(), "the factors of an input are not its shape");
  return *joined;
}

ValueId SizedGenerator::Constant(DataType type, const SizedShape& shape, const ElementAt& element) {
  std::array<Array, kSizeSets.size()> arrays;
  for (const SizeSet set : kSizeSets) {
    arrays[set] = Array(type, ShapeAt(shape, set));
    ForEachPosition(arrays[set].shape(), [&](const Ints& position, int64_t i) {
      Set(arrays[set], i, element(position, set));
    });
  }
  return builder_.AddConstant(LeafName("c"), arrays);
}

ValueId SizedGenerator::Table(DataType type, const SizedShape& shape, Values values) {
  Ints most;
  for (const AxisSizes& sizes : shape) most.push_back(*std::ranges::max_element(sizes));
  const Array table = RandomElements(type, most, values, random());
  const auto index = [&](const Ints& position) {
    int64_t i = 0;
    for (size_t a = 0; a < most.size(); ++a) i = i * most[a] + position[a];
    return i;
  };
  std::array<Array, kSizeSets.size()> arrays;
  for (const SizeSet set : kSizeSets) {
    arrays[set] = Array(type, ShapeAt(shape, set));
    ForEachPosition(arrays[set].shape(), [&](const Ints& position, int64_t i) {
      IsFloat(type) ? arrays[set].SetDouble(i, table.GetDouble(index(position)))
                    : arrays[set].SetInt(i, table.GetInt(index(position)));
    });
  }
  const ValueId constant = builder_.AddConstant(LeafName("c"), arrays);
  known_.push_back(constant);
  return constant;
}

ValueId SizedGenerator::SizedScalar(DataType type,
                                    const std::array<double, kSizeSets.size()>& values) {
  const SizedShape shape = Chance(20) ? SizedShape{Fixed(1)} : SizedShape{};
  return Constant(type, shape, [&](const Ints&, SizeSet set) { return values[set]; });
}

ValueId SizedGenerator::Parameter(DataType type, const SizedShape& shape) {
  return Chance(25) ? OfType(type, shape) : Table(type, shape);
}

Drawn SizedGenerator::Try(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes) {
  return TryAt(op, inputs, [&](SizeSet) { return attributes; });
}

Drawn SizedGenerator::TryAt(Op op, const std::vector<ValueId>& inputs,
                            const AttributesAt& attributes) {
  const auto values = builder_.Add(
      op, inputs, {attributes(kExact), attributes(kBucket), attributes(kOther)}, kMostElements);
  if (!values || values->empty()) return {};
  nodes_ += 1;
  known_.insert(known_.end(), values->begin(), values->end());
  return values->front();
}

Drawn SizedGenerator::Reshape(ValueId value, const SizedShape& shape) {
  return TryAt(Op::kReshape, {value}, [&](SizeSet set) {
    return Attributes{{"shape", ShapeAt(shape, set)}};
  });
}

std::string SizedGenerator::LeafName(const char* prefix) {
  return prefix + std::to_string(leaves_++);
}

}  // namespace tunec::fuzz
