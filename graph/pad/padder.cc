#include "graph/pad/padder.h"

#include <algorithm>
#include <limits>

#include "graph/follow_data.h"
#include "graph/pad/size_constant.h"
#include "support/check.h"

namespace tunec::pad {

Padder::Padder(const Graph& exact, const Graph& bucket, std::span<const Graph> samples)
    : graphs_({&exact, &bucket}),
      is_data_(ValuesOfData(bucket)),
      builder_(bucket.name()),
      values_(bucket.values().size()) {
  for (const Graph& sample : samples) graphs_.push_back(&sample);
  dimension_sizes_.resize(graphs_.size());
}

Status Padder::AddInputs(std::span<const OpenAxis> open) {
  std::map<std::string, int> parameters;
  for (size_t i = 0; i < bucket().inputs().size(); ++i) {
    const ValueId id = bucket().inputs()[i];
    const Value& value = bucket().value(id);
    PaddedValue& input = at(id);
    TUNEC_ASSIGN(input.value, builder_.AddInput(value.name, value.type));
    if (!value.layout.IsRowMajor()) builder_.SetLayout(input.value, value.layout);
    for (const Extents extents : ShapeOf(id)) input.axes.push_back(Axis::Fixed(extents.padded));
    for (const OpenAxis& axis : open) {
      if (static_cast<size_t>(axis.input) != i) continue;
      TUNEC_ASSIGN(input.axes[axis.axis], OpenInput(axis, parameters));
    }
    for (size_t a = 0; a < input.axes.size(); ++a) {
      const Extents extents = ExtentsOf(id, a);
      if (input.axes[a].extents().exact == extents.exact) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "input {} axis {} has {} elements in one graph and {} in the other, and no name",
                  value.name, a, extents.exact, extents.padded);
    }
  }
  return {};
}

Result<Axis> Padder::OpenInput(const OpenAxis& axis, std::map<std::string, int>& parameters) {
  const Extents extents = ExtentsOf(bucket().inputs()[axis.input], axis.axis);
  if (extents.exact > extents.padded || extents.exact < 1 ||
      extents.padded > std::numeric_limits<int32_t>::max())
    return Fail(ErrorCode::kInvalidArgument, "{} of dimension {} do not fit into {}", extents.exact,
                axis.dimension, extents.padded);
  const Series series = SeriesOf(bucket().inputs()[axis.input], static_cast<size_t>(axis.axis));
  const auto [found, is_new] =
      parameters.try_emplace(axis.dimension, static_cast<int>(sizes_.size()));
  if (is_new) {
    sizes_.push_back({fmt::format("size.{}", axis.dimension), series,
                      SizeExpression::Size(dimensions_.size()), axis.dimension, ValueId()});
    dimensions_.push_back(axis.dimension);
    for (size_t g = 0; g < graphs_.size(); ++g) dimension_sizes_[g].push_back(series[g]);
  }
  const Series& known = sizes_[found->second].series;
  if (known != series)
    return Fail(ErrorCode::kInvalidArgument, "dimension {} is {} of {} and {} of {}",
                axis.dimension, known[0], known[1], extents.exact, extents.padded);
  return Axis({Part{extents.padded, extents.exact, found->second}});
}

void Padder::Mix(const Axis& axis) {
  for (const Part& part : axis.parts()) {
    if (part.IsOpen()) mixed_.insert(part.parameter);
  }
}

void Padder::MixWhatMakes(const Axis& axis) {
  Mix(axis);
  for (const Part& part : axis.parts()) {
    if (!part.IsOpen() || !sizes_[static_cast<size_t>(part.parameter)].dimension.empty()) continue;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (!sizes_[i].dimension.empty()) mixed_.insert(static_cast<int>(i));
    }
  }
}

void Padder::MixDimension(size_t dimension) {
  const auto size = std::ranges::find(sizes_, dimensions_[dimension], &Size::dimension);
  mixed_.insert(static_cast<int>(size - sizes_.begin()));
}

void Padder::MixNamed(const std::vector<SizeExpression>& formulas) {
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    const SizeExpression::Step named{SizeExpression::Kind::kSize, static_cast<int64_t>(d)};
    const bool is_named = std::ranges::any_of(formulas, [&](const SizeExpression& formula) {
      return formula.empty() || std::ranges::find(formula.steps(), named) != formula.steps().end();
    });
    if (is_named) MixDimension(d);
  }
}

// Compares graphs that differ in one dimension alone. Without such graphs, the constant may depend
// on the dimension.
void Padder::MixWhatTells(const std::function<bool(size_t, size_t)>& same) {
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    bool is_told = false, differs = false;
    for (size_t g = 0; g < graphs_.size(); ++g) {
      for (size_t h = 0; h < g; ++h) {
        std::vector<int64_t> sizes = dimension_sizes_[g];
        sizes[d] = dimension_sizes_[h][d];
        if (sizes != dimension_sizes_[h] || dimension_sizes_[g][d] == sizes[d]) continue;
        is_told = true;
        differs = differs || !same(g, h);
      }
    }
    if (!is_told || differs) MixDimension(d);
  }
}

void Padder::MixWhatMeetsItself(const Axes& axes) {
  std::set<int> seen;
  for (const Axis& axis : axes) {
    for (const Part& part : axis.parts()) {
      if (part.IsOpen() && !seen.insert(part.parameter).second) mixed_.insert(part.parameter);
    }
  }
}

std::optional<Axis> Padder::Unify(const Axis& a, const Axis& b) {
  std::optional<Axis> axis = pad::Unify(a, b);
  if (!axis || !a.IsOpen() || !b.IsOpen()) return axis;
  // The axes have different parameters of equal extents. So elements along one size meet elements
  // along the other.
  const auto parameter = [](const Part& part) { return part.parameter; };
  if (std::ranges::equal(a.parts(), b.parts(), {}, parameter, parameter)) return axis;
  Mix(a);
  Mix(b);
  return axis;
}

ValueId Padder::Positions(const Axis& axis, size_t part, size_t axes_behind) {
  std::vector<int64_t> key = {static_cast<int64_t>(part)};
  for (const Part& each : axis.parts()) key.push_back(each.padded);
  ValueId& positions = positions_[{std::move(key), axes_behind}];
  if (positions.valid()) return positions;
  std::vector<int64_t> shape(axes_behind + 1, 1);
  shape[0] = axis.extents().padded;
  Array array(DataType::kI32, shape);
  for (int64_t i = 0; i < shape[0]; ++i) array.SetInt(i, axis.Digits(i)[part]);
  positions = builder_.AddConstant("positions", std::move(array));
  return positions;
}

Result<ValueId> Padder::IsExact(const Axes& axes, const std::set<size_t>& along) {
  for (const size_t a : along) {
    Mix(axes[a]);
    for (const Part& part : axes[a].parts()) {
      if (part.IsOpen()) MixNamed({sizes_[part.parameter].formula});
    }
  }
  return IsWithin(axes, along);
}

Result<ValueId> Padder::IsWithin(const Axes& axes, const std::set<size_t>& along) {
  ValueId all;
  for (const size_t a : along) {
    const Axis& axis = axes[a];
    for (size_t p = 0; p < axis.parts().size(); ++p) {
      if (!axis.parts()[p].IsOpen()) continue;
      TUNEC_ASSIGN(const ValueId size, SizeInput(axis.parts()[p].parameter));
      TUNEC_ASSIGN(const ValueId one,
                   builder_.Add(Op::kLt, {Positions(axis, p, axes.size() - 1 - a), size}));
      if (!all.valid()) {
        all = one;
        continue;
      }
      TUNEC_ASSIGN(all, builder_.Add(Op::kAnd, {all, one}));
    }
  }
  TUNEC_CHECK(all.valid(), "no axis is open");
  return all;
}

Result<ValueId> Padder::Mask(const PaddedValue& value, const std::set<size_t>& along,
                             double neutral) {
  TUNEC_ASSIGN(const ValueId is_exact, IsExact(value.axes, along));
  return Choose(is_exact, value.value, neutral);
}

Result<ValueId> Padder::Choose(ValueId is_exact, ValueId value, double neutral) {
  const DataType type = builder_.TypeOf(value).type;
  const ValueId other = builder_.AddConstant("neutral", ScalarOf(type, neutral));
  return builder_.Add(Op::kWhere, {is_exact, value, other});
}

// Marks no dimension as mixed: a part of a split run has zeros at other positions than the complete
// run, but never at exact positions. Does not mask repeated axes, because all elements along such
// an axis equal an exact element.
Result<ValueId> Padder::ZeroBeyond(const PaddedValue& value) {
  std::set<size_t> open;
  for (size_t a = 0; a < value.axes.size(); ++a) {
    if (value.axes[a].IsOpen() && !value.axes[a].is_repeated()) open.insert(a);
  }
  if (open.empty()) return value.value;
  TUNEC_ASSIGN(const ValueId is_exact, IsWithin(value.axes, open));
  return Choose(is_exact, value.value, 0);
}

bool Padder::IsComputed(ValueId value) const {
  return is_data_[value.index] && bucket().producer(SourceOf(bucket(), value)).op != Op::kInput;
}

Result<PaddedGraph> Padder::Finish() && {
  PaddedGraph result;
  for (size_t i = 0; i < bucket().outputs().size(); ++i) {
    const PaddedValue& output = at(bucket().outputs()[i]);
    builder_.AddOutput(output.value, bucket().output_names()[i]);
    if (output.is_loose && !output.is_embedded)
      return Fail(ErrorCode::kUnsupported, "output {} is a constant that depends on the sizes",
                  bucket().output_names()[i]);
    std::vector<PaddedAxis>& axes = result.outputs.emplace_back();
    for (const Axis& axis : output.axes) {
      PaddedAxis& parts = axes.emplace_back();
      for (const Part& part : axis.parts())
        parts.push_back({part.padded, part.exact, FormulaOf(Axis({part}))});
    }
  }
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const bool is_mixed = mixed_.contains(static_cast<int>(i));
    if (!is_mixed && !sizes_[i].dimension.empty()) result.separable.push_back(sizes_[i].dimension);
    if (sizes_[i].dimension.empty() && !sizes_[i].formula.empty())
      result.sizes.push_back(sizes_[i].formula);
  }
  result.dimensions = dimensions_;
  result.parameters = std::move(used_);
  result.graph = std::move(builder_).Build();
  return result;
}

}  // namespace tunec::pad
