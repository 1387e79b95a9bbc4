#include "tests/fuzz/pad/sized_model.h"

#include <fmt/format.h>

#include <utility>

#include "graph/ops/infer.h"
#include "support/check.h"

namespace tunec::fuzz {
namespace {

SizedShape Zip(const std::function<std::vector<int64_t>(SizeSet)>& shape_at) {
  SizedShape shape(shape_at(kExact).size());
  for (const SizeSet set : kSizeSets) {
    const std::vector<int64_t> sizes = shape_at(set);
    TUNEC_CHECK(sizes.size() == shape.size(), "the graphs differ in a rank");
    for (size_t a = 0; a < sizes.size(); ++a) shape[a][set] = sizes[a];
  }
  return shape;
}

// Returns true if the ranks are equal and no axis is empty or longer than at the bucket's sizes.
bool FitInto(const std::vector<ValueType>& types, const std::vector<ValueType>& of_bucket) {
  for (size_t i = 0; i < types.size(); ++i) {
    const std::vector<int64_t> shape = types[i].Shape(), most = of_bucket[i].Shape();
    if (shape.size() != most.size()) return false;
    for (size_t a = 0; a < shape.size(); ++a)
      if (shape[a] > most[a] || shape[a] == 0) return false;
  }
  return true;
}

}  // namespace

std::vector<int64_t> ShapeAt(const SizedShape& shape, SizeSet set) {
  std::vector<int64_t> sizes;
  for (const AxisSizes& axis : shape) sizes.push_back(axis[set]);
  return sizes;
}

SizedShape ShapeOf(const SizedModel& model, ValueId value) {
  return Zip([&](SizeSet set) { return model.graphs[set].value(value).type.Shape(); });
}

std::vector<OpenAxis> OpenAxes(const SizedModel& model) {
  std::vector<OpenAxis> open;
  const std::vector<ValueId>& inputs = model.graphs[kExact].inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const SizedShape shape = ShapeOf(model, inputs[i]);
    for (size_t a = 0; a < shape.size(); ++a) {
      if (IsFixed(shape[a])) continue;
      open.push_back({.input = static_cast<int>(i),
                      .axis = static_cast<int>(a),
                      .dimension = fmt::format("d{}_{}_{}", shape[a][kExact], shape[a][kBucket],
                                               shape[a][kOther])});
    }
  }
  return open;
}

ValueId SizedBuilder::AddInput(const std::string& name, DataType type, const SizedShape& shape) {
  ValueId input;
  for (const SizeSet set : kSizeSets) {
    const std::vector<int64_t> sizes = ShapeAt(shape, set);
    const auto added =
        builders_[set].AddInput(name, {type, std::vector<Dim>(sizes.begin(), sizes.end())});
    TUNEC_CHECK(added.has_value(), "input {}: {}", name, added.error().message);
    input = *added;
  }
  return input;
}

ValueId SizedBuilder::AddConstant(const std::string& name,
                                  const std::array<Array, kSizeSets.size()>& arrays) {
  ValueId constant;
  for (const SizeSet set : kSizeSets) constant = builders_[set].AddConstant(name, arrays[set]);
  return constant;
}

std::optional<std::vector<ValueId>> SizedBuilder::Add(
    Op op, const std::vector<ValueId>& inputs,
    const std::array<Attributes, kSizeSets.size()>& attributes, int64_t most_elements) {
  std::vector<ValueType> of_bucket;
  for (const SizeSet set : {kBucket, kExact, kOther}) {
    std::vector<const ValueType*> operands;
    for (const ValueId input : inputs)
      operands.push_back(input.valid() ? &builders_[set].TypeOf(input) : nullptr);
    Attributes completed = attributes[set];
    const auto types = Infer(op, operands, completed);
    if (!types) return {};
    for (const ValueType& type : *types)
      if (ElementCount(type.Shape()) > most_elements) return {};
    if (set == kBucket) of_bucket = *types;
    if (!FitInto(*types, of_bucket)) return {};
  }
  std::vector<ValueId> results;
  for (const SizeSet set : kSizeSets) {
    auto added = builders_[set].AddNode(op, inputs, attributes[set]);
    TUNEC_CHECK(added.has_value(), "{} was inferred, but not added: {}", Name(op),
                added.error().message);
    results = *std::move(added);
  }
  return results;
}

void SizedBuilder::AddOutput(ValueId value) {
  for (GraphBuilder& builder : builders_) builder.AddOutput(value);
}

SizedShape SizedBuilder::ShapeOf(ValueId value) const {
  return Zip([&](SizeSet set) { return builders_[set].TypeOf(value).Shape(); });
}

std::array<Graph, kSizeSets.size()> SizedBuilder::Build() && {
  return {std::move(builders_[kExact]).Build(), std::move(builders_[kBucket]).Build(),
          std::move(builders_[kOther]).Build()};
}

}  // namespace tunec::fuzz
