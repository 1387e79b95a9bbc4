#include "tests/fuzz/graph_generator.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostLeafElements = 300;
constexpr int64_t kMostElements = 2000;

// Returns true if the shapes can be broadcast to a common shape by NumPy's rule.
bool Broadcasts(const Ints& a, const Ints& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

bool BroadcastsTo(const Ints& from, const Ints& to) {
  if (from.size() > to.size()) return false;
  for (size_t i = 1; i <= from.size(); ++i)
    if (from[from.size() - i] != to[to.size() - i] && from[from.size() - i] != 1) return false;
  return true;
}

}  // namespace

GraphGenerator::GraphGenerator(uint64_t seed) : Draws(seed), builder_("random") {}

Graph GraphGenerator::Make() && {
  const int64_t target_nodes = Between(3, Chance(30) ? 25 : 12);
  // Not every draw adds a node, so the number of draws is limited.
  for (int tries = 0; nodes_ < target_nodes && tries < 200; ++tries) Step();
  for (const ValueId output : ChooseOutputs()) builder_.AddOutput(output);
  return std::move(builder_).Build();
}

void GraphGenerator::Step() {
  Made made;
  if (Chance(20)) {
    made = Phrases()[Below(static_cast<int64_t>(Phrases().size()))](*this);
  } else {
    const Recipe& recipe = Recipes()[Below(static_cast<int64_t>(Recipes().size()))];
    if (recipe.draw != nullptr) made = recipe.draw(*this, recipe.op);
  }
}

// Returns one to five outputs, which are mostly values that no node reads.
std::vector<ValueId> GraphGenerator::ChooseOutputs() {
  const ValueUsers users = builder_.graph().Users();
  std::vector<ValueId> outputs;
  for (const ValueId value : known_) {
    const bool read = !users[value].empty();
    const bool leaf = KindOf(builder_.graph().producer(value).op) == OpKind::kData;
    if (std::ranges::find(outputs, value) != outputs.end()) continue;
    if (leaf ? Chance(1) : Chance(read ? 5 : 85)) outputs.push_back(value);
  }
  if (outputs.empty()) outputs.push_back(known_.empty() ? Leaf(main_type(), {3}) : known_.back());
  while (outputs.size() > 5) outputs.erase(outputs.begin() + Below(std::ssize(outputs)));
  return outputs;
}

Ints GraphGenerator::Shape(int64_t least_rank, int64_t most_rank) {
  const int64_t rank =
      std::clamp(OneOf<int64_t>({0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5}), least_rank, most_rank);
  Ints shape;
  int64_t elements = 1;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t size = OneOf<int64_t>({1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 11, 13, 16, 17});
    if (Chance(1)) size = 0;
    if (elements * size > kMostLeafElements) size = OneOf<int64_t>({1, 2});
    elements *= std::max<int64_t>(size, 1);
    shape.push_back(size);
  }
  return shape;
}

// Returns the later of two random known values, so that later values are more frequent.
ValueId GraphGenerator::Recent() {
  const int64_t size = std::ssize(known_);
  return known_[std::max(Below(size), Below(size))];
}

ValueId GraphGenerator::Operand(Domain domain, int64_t least_rank, int64_t most_rank) {
  for (int tries = 0; tries < 6 && !known_.empty() && !Chance(8); ++tries) {
    const ValueId value = Recent();
    const auto rank = static_cast<int64_t>(builder_.TypeOf(value).dims.size());
    if (Contains(domain, TypeOf(value)) && rank >= least_rank && rank <= most_rank) return value;
  }
  return Leaf(TypeIn(domain), Shape(least_rank, most_rank));
}

ValueId GraphGenerator::OfType(DataType type, const Ints& shape) {
  for (int tries = 0; tries < 6 && !known_.empty(); ++tries) {
    const ValueId value = Recent();
    if (TypeOf(value) == type && ShapeOf(value) == shape) return value;
  }
  return Leaf(type, shape);
}

ValueId GraphGenerator::BroadcastingTo(DataType type, const Ints& shape) {
  for (int tries = 0; tries < 4 && !known_.empty() && Chance(70); ++tries) {
    const ValueId value = Recent();
    if (TypeOf(value) == type && BroadcastsTo(ShapeOf(value), shape)) return value;
  }
  Ints own(shape.begin() + Below(std::ssize(shape) + 1), shape.end());
  for (int64_t& size : own)
    if (Chance(25)) size = 1;
  return Leaf(type, std::move(own));
}

ValueId GraphGenerator::Partner(DataType type, const Ints& shape) {
  for (int tries = 0; tries < 6 && !known_.empty() && Chance(85); ++tries) {
    const ValueId value = Recent();
    if (TypeOf(value) == type && Broadcasts(ShapeOf(value), shape)) return value;
  }
  if (Chance(30)) {
    const double number = OneOf({0.0, -0.0, 1.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.1});
    return Scalar(type, number);
  }
  return BroadcastingTo(type, shape);
}

ValueId GraphGenerator::Leaf(DataType type, Ints shape) {
  const std::string name = "x" + std::to_string(leaves_++);
  if (Chance(45)) {
    known_.push_back(
        builder_.AddConstant(name, RandomElements(type, std::move(shape), values(), random())));
    return known_.back();
  }
  const auto input = builder_.AddInput(name, {type, std::vector<Dim>(shape.begin(), shape.end())});
  TUNEC_CHECK(input.has_value(), "input {}: {}", name, input.error().message);
  known_.push_back(*input);
  return *input;
}

ValueId GraphGenerator::Constant(Array array) {
  return builder_.AddConstant("x" + std::to_string(leaves_++), std::move(array));
}

ValueId GraphGenerator::Scalar(DataType type, double value) {
  Array array(type, Chance(20) ? Ints{1} : Ints{});
  IsFloat(type) ? array.SetDouble(0, value)
                : array.SetInt(0, static_cast<int64_t>(IsSigned(type) ? value : std::abs(value)));
  return Constant(std::move(array));
}

ValueId GraphGenerator::Parameter(DataType type, Ints shape) {
  if (Chance(20)) return OfType(type, shape);
  return Constant(RandomElements(type, std::move(shape), Values::kOrdinary, random()));
}

ValueId GraphGenerator::Positive(DataType type, Ints shape) {
  Array array(type, std::move(shape));
  for (int64_t i = 0; i < array.size(); ++i)
    array.SetDouble(i, static_cast<double>(Between(1, 12)) / 4);
  return Constant(std::move(array));
}

Made GraphGenerator::Try(Op op, std::vector<ValueId> inputs, Attributes attributes) {
  std::vector<const ValueType*> operands;
  for (const ValueId input : inputs)
    operands.push_back(input.valid() ? &builder_.TypeOf(input) : nullptr);
  Attributes completed = attributes;
  const auto types = Infer(op, operands, completed);
  if (!types) return {};
  for (const ValueType& type : *types)
    if (ElementCount(type.Shape()) > kMostElements) return {};
  const auto values = builder_.AddNode(op, std::move(inputs), std::move(attributes));
  TUNEC_CHECK(values.has_value(), "{} was inferred, but not added: {}", Name(op),
              values.error().message);
  nodes_ += 1;
  known_.insert(known_.end(), values->begin(), values->end());
  return values->empty() ? Made() : values->front();
}

}  // namespace tunec::fuzz
