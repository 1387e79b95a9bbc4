#include "tests/fuzz/pad/sized_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/ops/infer.h"
#include "graph/specialize.h"
#include "support/check.h"

namespace tunec::fuzz {
namespace {

using Types = std::vector<ValueType>;

std::map<std::string, SizeExpr> Replacements(const SizeValues& sizes) {
  return {sizes.begin(), sizes.end()};
}

// Infers the node again, with numbers for the named sizes.
Result<Types> InferAt(Op op, const std::vector<const ValueType*>& operands, Attributes attributes,
                      const SizeValues& sizes) {
  Types fixed(operands.size());
  std::vector<const ValueType*> fixed_operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] != nullptr) {
      const std::vector<int64_t> shape = ShapeAt(operands[i]->dims, sizes);
      fixed[i] = {operands[i]->type, {shape.begin(), shape.end()}};
    }
    fixed_operands.push_back(operands[i] != nullptr ? &fixed[i] : nullptr);
  }
  for (auto& [name, attribute] : attributes) attribute = Substitute(attribute, Replacements(sizes));
  return Infer(op, fixed_operands, attributes);
}

// Returns true if the ranks are equal and no axis is empty or longer than at the bucket's sizes.
bool FitInto(const Types& types, const Types& of_bucket) {
  for (size_t i = 0; i < types.size(); ++i) {
    const std::vector<int64_t> shape = types[i].Shape(), most = of_bucket[i].Shape();
    if (shape.size() != most.size()) return false;
    for (size_t a = 0; a < shape.size(); ++a)
      if (shape[a] > most[a] || shape[a] == 0) return false;
  }
  return true;
}

bool AreSmall(const Types& types, int64_t most_elements) {
  return std::ranges::all_of(
      types, [&](const ValueType& type) { return ElementCount(type.Shape()) <= most_elements; });
}

}  // namespace

std::vector<int64_t> ShapeAt(const SizedShape& shape, const SizeValues& sizes) {
  std::vector<int64_t> numbers;
  for (const Dim& dim : shape) {
    const std::optional<int64_t> number = Evaluate(dim, sizes);
    TUNEC_CHECK(number.has_value(), "a size {} has no value", DimText(dim));
    numbers.push_back(*number);
  }
  return numbers;
}

Attribute SizeAttribute(const Dim& size) { return Substitute(Attribute(size), {}); }
Attribute SizesAttribute(SizedShape sizes) { return Substitute(Attribute(std::move(sizes)), {}); }

Graph SizedModel::At(SizeSet set) const {
  Result<Graph> graph = Specialize(named, sizes[set]);
  TUNEC_CHECK(graph.has_value(), "a model has no graph at its sizes: {}", graph.error().message);
  return *std::move(graph);
}

ValueId SizedBuilder::AddInput(const std::string& name, DataType type, const SizedShape& shape) {
  const Result<ValueId> input = builder_.AddInput(name, {type, shape});
  TUNEC_CHECK(input.has_value(), "input {}: {}", name, input.error().message);
  return *input;
}

std::optional<std::vector<ValueId>> SizedBuilder::Add(Op op, const std::vector<ValueId>& inputs,
                                                      const Attributes& attributes,
                                                      int64_t most_elements) {
  std::vector<const ValueType*> operands;
  for (const ValueId input : inputs)
    operands.push_back(input.valid() ? &builder_.TypeOf(input) : nullptr);
  Attributes completed = attributes;
  std::vector<SizeCondition> conditions;
  const Result<Types> named = Infer(op, operands, completed, {}, &conditions);
  if (!named) return {};
  Types of_bucket;
  for (const SizeSet set : {kBucket, kExact, kOther}) {
    const SizeValues& sizes = sizes_[set];
    const bool hold = std::ranges::all_of(conditions, [&](const SizeCondition& condition) {
      return Holds(condition, sizes).value_or(false);
    });
    if (!hold) return {};
    const Result<Types> types = InferAt(op, operands, completed, sizes);
    if (!types || !AreSmall(*types, most_elements)) return {};
    if (set == kBucket) of_bucket = *types;
    if (!FitInto(*types, of_bucket)) return {};
    for (size_t i = 0; i < types->size(); ++i)
      TUNEC_CHECK(ShapeAt((*named)[i].dims, sizes) == (*types)[i].Shape(),
                  "{} makes {} with names, but {} without", Name(op), ShapeText((*named)[i].dims),
                  ShapeText((*types)[i].dims));
  }
  auto added = builder_.AddNode(op, inputs, attributes);
  TUNEC_CHECK(added.has_value(), "{} was inferred, but not added: {}", Name(op),
              added.error().message);
  return *std::move(added);
}

void SizedBuilder::SetSize(const std::string& name,
                           const std::array<int64_t, kSizeSets.size()>& numbers) {
  for (const SizeSet set : kSizeSets) sizes_[set][name] = numbers[set];
}

}  // namespace tunec::fuzz
