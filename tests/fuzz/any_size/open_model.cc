#include "tests/fuzz/any_size/open_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "graph/specialize.h"
#include "support/random.h"
#include "tests/fuzz/random_values.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostElements = 50000;
constexpr std::array<const char*, 2> kNames = {"n", "m"};

std::vector<OpenAxis> OpenAxesOf(const Graph& graph) {
  std::vector<OpenAxis> open;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const std::vector<Dim>& dims = graph.value(graph.inputs()[i]).type.dims;
    for (size_t a = 0; a < dims.size(); ++a) {
      if (const auto name = dims[a].AsName())
        open.push_back({static_cast<int>(i), static_cast<int>(a), *name});
    }
  }
  return open;
}

}  // namespace

SizedSource OpenModel(uint64_t seed) {
  SizedSource source;
  const size_t dimensions = 1 + seed % kNames.size();
  source.dimensions.assign(kNames.begin(), kNames.begin() + dimensions);
  const Result<Graph> named = OpenBuilder(seed, dimensions).Make();
  source.graph_at = [named, dimensions](const Sizes& sizes) -> Result<Graph> {
    if (!named) return named;
    SizeValues values;
    for (size_t d = 0; d < dimensions; ++d) values[kNames[d]] = sizes[d];
    return Specialize(*named, values);
  };
  if (!named) return source;
  source.named = *named;
  Random random(StreamSeed(seed, "example"));
  for (int tries = 0; tries < 20 && source.open.empty(); ++tries) {
    source.example.clear();
    for (size_t d = 0; d < dimensions; ++d)
      source.example.push_back(2 + static_cast<int64_t>(random.Below(15)));
    if (source.graph_at(source.example)) source.open = OpenAxesOf(*named);
  }
  return source;
}

OpenBuilder::OpenBuilder(uint64_t seed, size_t dimensions) : Draws(seed), dimensions_(dimensions) {}

Result<Graph> OpenBuilder::Make() && {
  OpenShape first;
  for (size_t d = 0; d < dimensions_; ++d) first.push_back(Dim::Named(kNames[d]));
  for (int64_t more = Between(0, 4 - std::ssize(first)); more > 0; --more)
    first.insert(first.begin() + Below(std::ssize(first) + 1), OneOf<int64_t>({1, 2, 3, 4}));
  Input(first);
  const std::span<const OpenRecipe> recipes = OpenRecipes();
  for (int64_t more = Between(1, 6); more > 0 && status_; --more)
    recipes[static_cast<size_t>(Below(std::ssize(recipes)))](*this);
  TUNEC_RETURN_IF_ERROR(status_);
  ChooseOutputs();
  return std::move(builder_).Build();
}

void OpenBuilder::ChooseOutputs() {
  const ValueUsers users(builder_.graph());
  std::vector<ValueId> outputs = operands_;
  std::erase_if(outputs, [&](ValueId value) {
    return !users[value].empty() || builder_.graph().producer(value).op == Op::kInput;
  });
  if (outputs.empty()) outputs.push_back(operands_.back());
  for (const ValueId output : outputs) builder_.AddOutput(output);
}

Dim OpenBuilder::AnyDimension() {
  return Dim::Named(kNames[static_cast<size_t>(Below(static_cast<int64_t>(dimensions_)))]);
}

ValueId OpenBuilder::Operand(int64_t least_rank) {
  std::vector<ValueId> fit;
  for (const ValueId value : operands_)
    if (RankOf(value) >= least_rank) fit.push_back(value);
  if (!fit.empty() && Chance(80))
    return Chance(60) ? fit.back() : fit[static_cast<size_t>(Below(std::ssize(fit)))];
  OpenShape shape = {AnyDimension()};
  while (std::ssize(shape) < std::max<int64_t>(least_rank, 1) || Chance(30)) {
    if (shape.size() == 4) break;
    shape.insert(shape.begin() + Below(std::ssize(shape) + 1), OneOf<int64_t>({1, 2, 3, 4}));
  }
  return Input(shape);
}

bool OpenBuilder::IsSmall(const OpenShape& shape) const {
  Dim elements = 1;
  for (const Dim& dim : shape) elements = elements * dim;
  const SizeValues greatest = {{kNames[0], kGreatestSize}, {kNames[1], kGreatestSize}};
  return Evaluate(elements, greatest).value_or(kMostElements + 1) <= kMostElements;
}

ValueId OpenBuilder::Input(const OpenShape& shape) {
  return operands_.emplace_back(
      *builder_.AddInput(fmt::format("x{}", operands_.size()), {DataType::kF32, shape}));
}

ValueId OpenBuilder::Weight(const Ints& shape) {
  return builder_.AddConstant("w",
                              RandomElements(DataType::kF32, shape, Values::kOrdinary, random()));
}

ValueId OpenBuilder::Scalar(double value) {
  Array scalar(DataType::kF32, {});
  scalar.SetDouble(0, value);
  return builder_.AddConstant("c", std::move(scalar));
}

ValueId OpenBuilder::Range(const Dim& start, const Dim& limit, int64_t step) {
  return Add(Op::kRange, {},
             {{"start", start}, {"limit", limit}, {"delta", step}, {"to", std::string("f32")}});
}

ValueId OpenBuilder::Add(Op op, const std::vector<ValueId>& inputs, const Attributes& attributes) {
  const auto id = builder_.Add(op, inputs, attributes);
  if (id) return *id;
  if (status_) status_ = Fail(ErrorCode::kUnsupported, "{}", id.error().message);
  return inputs.empty() ? operands_.back() : inputs[0];
}

ValueId OpenBuilder::AddResult(Op op, const std::vector<ValueId>& inputs,
                               const Attributes& attributes) {
  return operands_.emplace_back(Add(op, inputs, attributes));
}

}  // namespace tunec::fuzz
