#include "tests/fuzz/any_size/open_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "support/random.h"
#include "tests/fuzz/random_values.h"

namespace tunec::fuzz {
namespace {

constexpr int64_t kMostElements = 200000;
constexpr std::array<const char*, 2> kNames = {"n", "m"};

size_t DimensionsOf(uint64_t seed) { return 1 + seed % kNames.size(); }

std::vector<int64_t> SizesIn(const OpenShape& shape) {
  std::vector<int64_t> sizes;
  for (const OpenAxisSize& axis : shape) sizes.push_back(axis.size);
  return sizes;
}

ValueType TypeOf(const OpenShape& shape) {
  ValueType type{DataType::kF32, {}};
  for (const OpenAxisSize& axis : shape) type.dims.emplace_back(axis.size);
  return type;
}

/// Returns the dynamic axes of the inputs, whose names list the axes. For example, "x3_n__m" has
/// two constant axes between the dynamic axes n and m.
std::vector<OpenAxis> OpenAxesOf(const Graph& graph) {
  std::vector<OpenAxis> open;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const std::string& name = graph.value(graph.inputs()[i]).name;
    const std::string axes = name.substr(name.find('_') + 1);
    for (size_t a = 0; a < axes.size(); ++a) {
      if (axes[a] != '_')
        open.push_back({static_cast<int>(i), static_cast<int>(a), std::string(1, axes[a])});
    }
  }
  return open;
}

}  // namespace

OpenAxisSize Number(int64_t size) { return {std::to_string(size), size, 0}; }

SizedSource OpenModel(uint64_t seed) {
  SizedSource source;
  source.graph_at = [seed](const Sizes& sizes) { return OpenBuilder(seed, sizes).Make(); };
  for (size_t d = 0; d < DimensionsOf(seed); ++d) source.dimensions.emplace_back(kNames[d]);
  Random random(StreamSeed(seed, "example"));
  for (int tries = 0; tries < 20; ++tries) {
    source.example.clear();
    for (size_t d = 0; d < source.dimensions.size(); ++d)
      source.example.push_back(2 + static_cast<int64_t>(random.Below(15)));
    const Result<Graph> graph = source.graph_at(source.example);
    if (!graph) continue;
    source.open = OpenAxesOf(*graph);
    break;
  }
  return source;
}

OpenBuilder::OpenBuilder(uint64_t seed, const Sizes& sizes) : Draws(seed), sizes_(sizes) {}

Result<Graph> OpenBuilder::Make() && {
  OpenShape first;
  for (size_t d = 0; d < sizes_.size(); ++d) first.push_back(Dimension(d));
  for (int64_t more = Between(0, 4 - std::ssize(first)); more > 0; --more)
    first.insert(first.begin() + Below(std::ssize(first) + 1),
                 Number(OneOf<int64_t>({1, 2, 3, 4})));
  Input(first);
  const std::span<const OpenRecipe> recipes = OpenRecipes();
  for (int64_t more = Between(1, 6); more > 0 && status_; --more)
    recipes[static_cast<size_t>(Below(std::ssize(recipes)))](*this);
  if (!status_) return std::unexpected(status_.error());
  ChooseOutputs();
  return std::move(builder_).Build();
}

void OpenBuilder::ChooseOutputs() {
  std::vector<ValueId> outputs;
  for (const Known& known : values_)
    if (!known.is_leaf && !known.is_read) outputs.push_back(known.id);
  if (outputs.empty()) outputs.push_back(values_.back().id);
  for (const ValueId output : outputs) builder_.AddOutput(output);
}

OpenAxisSize OpenBuilder::Dimension(size_t d) const { return {kNames[d], sizes_[d], 1}; }

size_t OpenBuilder::Operand(int64_t least_rank) {
  std::vector<size_t> fit;
  for (size_t v = 0; v < values_.size(); ++v)
    if (!values_[v].is_leaf && RankOf(v) >= least_rank) fit.push_back(v);
  if (!fit.empty() && Chance(80)) return Chance(60) ? fit.back() : fit[Below(std::ssize(fit))];
  OpenShape shape = {AnyDimension()};
  while (std::ssize(shape) < std::max<int64_t>(least_rank, 1) || Chance(30)) {
    if (shape.size() == 4) break;
    shape.insert(shape.begin() + Below(std::ssize(shape) + 1),
                 Number(OneOf<int64_t>({1, 2, 3, 4})));
  }
  return Input(shape);
}

size_t OpenBuilder::AddKnown(Known known) {
  int64_t elements = 1;
  for (const OpenAxisSize& axis : known.shape) elements *= axis.size;
  if (status_ && elements > kMostElements) status_ = Fail(ErrorCode::kUnsupported, "too large");
  if (status_ && builder_.TypeOf(known.id).Shape() != SizesIn(known.shape))
    status_ =
        Fail(ErrorCode::kInternal, "{} is not as reckoned", builder_.graph().value(known.id).name);
  values_.push_back(std::move(known));
  return values_.size() - 1;
}

size_t OpenBuilder::Input(const OpenShape& shape) {
  std::string name = fmt::format("x{}_", values_.size());
  for (const OpenAxisSize& axis : shape) name += axis.degree == 0 ? "_" : axis.formula;
  const auto id = builder_.AddInput(name, TypeOf(shape));
  if (id) return AddKnown({*id, shape, /*is_leaf=*/false, /*is_read=*/true});
  return Stop(id.error(), shape);
}

size_t OpenBuilder::Constant(const OpenShape& shape,
                             const std::function<double(const Ints&)>& element) {
  Array array(DataType::kF32, SizesIn(shape));
  ForEachPosition(array.shape(),
                  [&](const Ints& position, int64_t i) { array.SetDouble(i, element(position)); });
  return AddKnown({builder_.AddConstant("c", std::move(array)), shape, /*is_leaf=*/true});
}

size_t OpenBuilder::Weight(const Ints& shape) {
  OpenShape numbers;
  for (const int64_t size : shape) numbers.push_back(Number(size));
  return AddKnown({builder_.AddConstant(
                       "w", RandomElements(DataType::kF32, shape, Values::kOrdinary, random())),
                   numbers, /*is_leaf=*/true});
}

size_t OpenBuilder::Scalar(double value) {
  return Constant({}, [&](const Ints&) { return value; });
}

size_t OpenBuilder::Add(Op op, const std::vector<size_t>& inputs, const Attributes& attributes,
                        const OpenShape& shape) {
  std::vector<ValueId> ids;
  for (const size_t input : inputs) {
    values_[input].is_read = true;
    ids.push_back(values_[input].id);
  }
  if (!status_) return Stop(status_.error(), shape);
  const auto id = builder_.Add(op, ids, attributes);
  return id ? AddKnown({*id, shape}) : Stop(id.error(), shape);
}

size_t OpenBuilder::Stop(const Error& why, const OpenShape& shape) {
  if (status_) status_ = Fail(ErrorCode::kUnsupported, "{}", why.message);
  values_.push_back({values_[0].id, shape});
  return values_.size() - 1;
}

}  // namespace tunec::fuzz
