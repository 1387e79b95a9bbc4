#include "tests/fuzz/pad/sized_generator.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostLeafElements = 700;
constexpr int64_t kMostElements = 3000;
constexpr int64_t kMostHiddenElements = 1 << 20;

using Agree = std::function<bool(const Dim&, const Dim&)>;

// Returns true if the axes broadcast by the same rule at all sizes.
bool SameOrOne(const Dim& a, const Dim& b) { return a == b || a == 1 || b == 1; }

bool Broadcasts(const SizedShape& a, const SizedShape& b, const Agree& agree) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i)
    if (!agree(a[a.size() - i], b[b.size() - i])) return false;
  return true;
}

bool BroadcastsTo(const SizedShape& from, const SizedShape& to) {
  const auto agree = [](const Dim& a, const Dim& b) { return a == b || a == 1; };
  return from.size() <= to.size() && Broadcasts(from, to, agree);
}

bool AreFixed(const SizedShape& shape) { return std::ranges::all_of(shape, &Dim::IsConstant); }

void Set(Array& array, int64_t i, double value) {
  if (IsFloat(array.type())) return array.SetDouble(i, value);
  array.SetInt(i, static_cast<int64_t>(IsSigned(array.type()) ? value : std::abs(value)));
}

}  // namespace

Attributes RangeAttributes(DataType type, const Dim& start, const Dim& count, int64_t step) {
  return {{"start", SizeAttribute(start)},
          {"limit", SizeAttribute(start + count * step)},
          {"delta", static_cast<double>(step)},
          {"to", std::string(Name(type))}};
}

SizedGenerator::SizedGenerator(uint64_t seed) : Draws(seed) { DrawDimensions(); }

// Draws one to three dimensions. Different dimensions can have equal sizes.
void SizedGenerator::DrawDimensions() {
  std::array<int64_t, kSizeSets.size()> sizes{};
  const int64_t count = Between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0 || Chance(85)) {
      const int64_t bucket = OneOf<int64_t>({1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 16});
      const auto below = [&] { return Chance(12) ? bucket : Between(1, bucket); };
      sizes = {below(), bucket, below()};
      if (sizes[kExact] == bucket && sizes[kOther] == bucket)
        sizes[Chance(50) ? kExact : kOther] = std::max<int64_t>(bucket / 2, 1);
    }
    const std::string name = "n" + std::to_string(i);
    builder_.SetSize(name, sizes);
    dimensions_.push_back(Dim::Named(name));
  }
}

SizedModel SizedGenerator::Make() && {
  const int64_t target_nodes = Between(1, Chance(25) ? 14 : 6);
  for (int tries = 0; nodes_ < target_nodes && tries < 200; ++tries) Step();
  ChooseOutputs();
  const SizesBySet sizes = builder_.sizes();
  return {.named = std::move(builder_).Build(), .sizes = sizes, .values = values()};
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
  if (known_.empty()) Leaf(main_type(), {Dimension()});
  const ValueUsers users = builder_.graph().Users();
  std::vector<ValueId> outputs;
  for (const ValueId value : known_) {
    const bool is_read = !users[value].empty();
    if (std::ranges::find(outputs, value) != outputs.end()) continue;
    if (Chance(leaves_.contains(value) ? 1 : is_read ? 5 : 85)) outputs.push_back(value);
  }
  if (outputs.empty()) outputs.push_back(known_.back());
  while (outputs.size() > 4) outputs.erase(outputs.begin() + Below(std::ssize(outputs)));
  for (const ValueId output : outputs) builder_.AddOutput(output);
}

Dim SizedGenerator::Axis() {
  if (Chance(50)) return Dimension();
  return OneOf<int64_t>({1, 1, 2, 2, 3, 3, 4, 5, 8});
}

SizedShape SizedGenerator::Shape(int64_t least_rank, int64_t most_rank) {
  const int64_t rank =
      std::clamp(OneOf<int64_t>({0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4}), least_rank, most_rank);
  SizedShape shape;
  int64_t elements = 1;
  for (int64_t d = 0; d < rank; ++d) {
    Dim size = Axis();
    if (elements * At(size, kBucket) > kMostLeafElements) size = OneOf<int64_t>({1, 2});
    elements *= At(size, kBucket);
    shape.push_back(size);
  }
  return shape;
}

int64_t SizedGenerator::At(const Dim& size, SizeSet set) const {
  return Evaluate(size, builder_.sizes()[set]).value_or(0);
}
int64_t SizedGenerator::Least(const Dim& size) const {
  return std::min({At(size, kExact), At(size, kBucket), At(size, kOther)});
}
int64_t SizedGenerator::Most(const Dim& size) const {
  return std::max({At(size, kExact), At(size, kBucket), At(size, kOther)});
}
int64_t SizedGenerator::BucketElements(const SizedShape& shape) const {
  return ElementCount(ShapeAt(shape, builder_.sizes()[kBucket]));
}
bool SizedGenerator::Divides(const Dim& factor, const Dim& size) const {
  return std::ranges::all_of(kSizeSets,
                             [&](SizeSet set) { return At(size, set) % At(factor, set) == 0; });
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
  for (Dim& size : own)
    if (Chance(25)) size = 1;
  return Leaf(type, own);
}

ValueId SizedGenerator::Partner(DataType type, const SizedShape& shape) {
  // The axes may happen to fit at the drawn sizes.
  const Agree fit = [&](const Dim& a, const Dim& b) {
    return std::ranges::all_of(kSizeSets,
                               [&](SizeSet set) { return SameOrOne(At(a, set), At(b, set)); });
  };
  const Agree agree = Chance(10) ? fit : SameOrOne;
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
  if (shape.empty()) return AddLeaf(Filled(type, shape, Chance(50) ? Dimension() : 3));
  const int64_t axis = Below(std::ssize(shape));
  switch (Below(5)) {
    case 0:
      return AddLeaf(Constant(type, shape, [](const Ints&) { return 1.0; }));
    case 1:
      return AddLeaf(Constant(
          type, shape, [&](const Ints& position) { return static_cast<double>(position[axis]); }));
    case 2:
      return AddLeaf(Counted(type, shape, axis, 0, 1));
    case 3:
      return AddLeaf(Counted(type, shape, axis, shape[axis] - 1, -1));
    default:
      return AddLeaf(Filled(type, shape, shape[axis]));
  }
}

bool SizedGenerator::IsDimension(const Dim& size) const {
  return std::ranges::find(dimensions_, size) != dimensions_.end();
}

// Returns two factors of `size`, or no value. One factor is a dimension, and the other is a
// dimension or a constant.
std::optional<SizedShape> SizedGenerator::Factors(const Dim& size) {
  for (const Dim& dimension : dimensions_) {
    const Dim rest = Dim::FloorDiv(size, dimension);
    if (rest * dimension != size || !(rest.IsConstant() || IsDimension(rest))) continue;
    return Chance(50) ? SizedShape{dimension, rest} : SizedShape{rest, dimension};
  }
  return {};
}

ValueId SizedGenerator::Input(DataType type, const SizedShape& shape, const char* prefix) {
  SizedShape factors;
  const bool as_it_is = BucketElements(shape) > kMostElements;  // a reshape would be too large
  for (const Dim& size : shape) {
    const bool whole = as_it_is || size.IsConstant() || IsDimension(size) || Chance(10);
    const auto parts = whole ? std::nullopt : Factors(size);
    if (parts) factors.insert(factors.end(), parts->begin(), parts->end());
    if (!parts) factors.push_back(size);
  }
  const ValueId input = AddLeaf(builder_.AddInput(LeafName(prefix), type, factors));
  if (factors == shape) return input;
  const Drawn joined = Reshape(input, shape);
  TUNEC_CHECK(joined.has_value(), "the factors of an input are not its shape");
  return *joined;
}

ValueId SizedGenerator::Constant(DataType type, const SizedShape& shape, const ElementAt& element) {
  Ints most;
  for (const Dim& size : shape) most.push_back(Most(size));
  Array array(type, most);
  ForEachPosition(most, [&](const Ints& position, int64_t i) { Set(array, i, element(position)); });
  return Sliced(array, shape);
}

ValueId SizedGenerator::Table(DataType type, const SizedShape& shape, Values values) {
  Ints most;
  for (const Dim& size : shape) most.push_back(Most(size));
  return AddLeaf(Sliced(RandomElements(type, most, values, random()), shape));
}

ValueId SizedGenerator::Sliced(const Array& largest, const SizedShape& shape) {
  const ValueId constant = builder_.AddConstant(LeafName("c"), largest);
  if (AreFixed(shape)) return constant;
  const Drawn part = Hidden(Op::kSlice, {constant},
                            {{"starts", Ints(shape.size(), 0)}, {"ends", SizesAttribute(shape)}});
  return OrInput(part, largest.type(), shape);
}

ValueId SizedGenerator::Scalar(DataType type, double value) {
  const SizedShape shape = Chance(20) ? SizedShape{1} : SizedShape{};
  return Constant(type, shape, [&](const Ints&) { return value; });
}

ValueId SizedGenerator::SizedScalar(DataType type, const Dim& size) {
  return Filled(type, Chance(20) ? SizedShape{1} : SizedShape{}, size);
}

ValueId SizedGenerator::Filled(DataType type, const SizedShape& shape, const Dim& size) {
  if (size.IsConstant())
    return Constant(type, shape, [&](const Ints&) { return static_cast<double>(size.Value()); });
  Drawn value = HiddenRange(type, size, 1, 1);
  if (value && shape != SizedShape{1})
    value = Hidden(shape.empty() ? Op::kReshape : Op::kExpand, {*value},
                   {{"shape", SizesAttribute(shape)}});
  return OrInput(value, type, shape);
}

ValueId SizedGenerator::Counted(DataType type, const SizedShape& shape, int64_t axis,
                                const Dim& start, int64_t step) {
  SizedShape only(shape.size(), 1);
  only[axis] = shape[axis];
  Drawn value = HiddenRange(type, start, shape[axis], step);
  if (value && ShapeOf(*value) != only)
    value = Hidden(Op::kReshape, {*value}, {{"shape", SizesAttribute(only)}});
  if (value && shape != only)
    value = Hidden(Op::kExpand, {*value}, {{"shape", SizesAttribute(shape)}});
  return OrInput(value, type, shape);
}

ValueId SizedGenerator::Parameter(DataType type, const SizedShape& shape) {
  return Chance(25) ? OfType(type, shape) : Table(type, shape);
}

Drawn SizedGenerator::Try(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes) {
  const auto values = builder_.Add(op, inputs, attributes, kMostElements);
  if (!values || values->empty()) return {};
  nodes_ += 1;
  known_.insert(known_.end(), values->begin(), values->end());
  return values->front();
}

Drawn SizedGenerator::Hidden(Op op, const std::vector<ValueId>& inputs,
                             const Attributes& attributes) {
  const auto values = builder_.Add(op, inputs, attributes, kMostHiddenElements);
  return values ? Drawn(values->front()) : Drawn();
}

// Adds a range of the type, or a range of integers and a cast. Small types may be too small for a
// range, and unsigned types cannot count down to 0.
Drawn SizedGenerator::HiddenRange(DataType type, const Dim& start, const Dim& count, int64_t step) {
  const bool is_direct = SizeOf(type) > 1 && (step > 0 || IsFloat(type) || IsSigned(type));
  const DataType counted = is_direct && Chance(70) ? type : DataType::kI64;
  const Drawn range = Hidden(Op::kRange, {}, RangeAttributes(counted, start, count, step));
  if (!range || counted == type) return range;
  return Hidden(Op::kCast, {*range}, {{"to", std::string(Name(type))}});
}

ValueId SizedGenerator::OrInput(const Drawn& value, DataType type, const SizedShape& shape) {
  return value ? *value : Input(type, shape);
}

Drawn SizedGenerator::Reshape(ValueId value, const SizedShape& shape) {
  return Try(Op::kReshape, {value}, {{"shape", SizesAttribute(shape)}});
}

ValueId SizedGenerator::AddLeaf(ValueId leaf) {
  known_.push_back(leaf);
  leaves_.insert(leaf);
  return leaf;
}

std::string SizedGenerator::LeafName(const char* prefix) {
  return prefix + std::to_string(names_++);
}

}  // namespace tunec::fuzz
