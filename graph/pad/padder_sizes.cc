// Formulas of the sizes that are inputs of a padded graph. The formula of a rule is checked in all
// graphs. If there is none, or it does not hold, another form that holds in all graphs is tried.
// For example, the pads of a window may depend on the size.
#include <algorithm>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {
namespace {

// Least number of different values of a base. With fewer values, a base plus a constant may equal a
// series by chance.
constexpr int kFewest = 3;

bool Differ(const Series& series, int at_least) {
  return std::set<int64_t>(series.begin(), series.end()).size() >= static_cast<size_t>(at_least);
}

}  // namespace

bool Varies(const Series& series) { return Differ(series, 2); }

Extents Padder::ExtentsOf(ValueId value, size_t axis) const {
  return {exact().value(value).type.dims[axis].Value(),
          bucket().value(value).type.dims[axis].Value()};
}

std::vector<Extents> Padder::ShapeOf(ValueId value) const {
  std::vector<Extents> shape;
  for (size_t a = 0; a < bucket().value(value).type.dims.size(); ++a)
    shape.push_back(ExtentsOf(value, a));
  return shape;
}

Series Padder::SeriesOf(ValueId value, size_t axis) const {
  Series series;
  for (const Graph* graph : graphs_) series.push_back(graph->value(value).type.dims[axis].Value());
  return series;
}

Series Padder::SeriesOf(const Axis& axis) const {
  Series series(graphs_.size(), 1);
  for (const Part& part : axis.parts()) {
    for (size_t g = 0; g < series.size(); ++g)
      series[g] *= part.IsOpen() ? sizes_[part.parameter].series[g] : part.padded;
  }
  return series;
}

SizeExpression Padder::FormulaOf(const Axis& axis) const {
  SizeExpression product = SizeExpression::Constant(1);
  for (const Part& part : axis.parts())
    product = product.Times(part.IsOpen() ? sizes_[part.parameter].formula
                                          : SizeExpression::Constant(part.padded));
  return product;
}

int Padder::SizeParameterFor(const Series& series, const SizeExpression& formula) {
  auto found = std::ranges::find(sizes_, series, &Size::series);
  if (found == sizes_.end()) {
    found =
        sizes_.insert(found, {fmt::format("size.{}", sizes_.size()), series, {}, "", ValueId()});
  }
  if (found->formula.empty()) found->formula = Explain(series, formula);
  return static_cast<int>(found - sizes_.begin());
}

Part Padder::PartFor(const Series& series, const SizeExpression& formula) {
  if (!Varies(series)) return {series[1], series[0]};
  return {series[1], series[0], SizeParameterFor(series, formula)};
}

std::optional<Series> Padder::ValuesOf(const SizeExpression& formula) const {
  Series values;
  for (const std::vector<int64_t>& sizes : dimension_sizes_) {
    const std::optional<int64_t> value = formula.At(sizes);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

SizeExpression Padder::Explain(const Series& series, const SizeExpression& formula,
                               std::span<const SizeExpression> bases) const {
  if (ValuesOf(formula) == series) return formula;
  if (!Varies(series)) return SizeExpression::Constant(series[0]);
  for (const SizeExpression& base : bases) {
    const std::optional<Series> values = ValuesOf(base);
    if (!values || !Differ(*values, kFewest)) continue;
    const SizeExpression sum = base.Plus(series[0] - (*values)[0]);
    if (ValuesOf(sum) == series) return sum;
  }
  return {};
}

SizeExpression Padder::Quotient(const SizeExpression& base, int64_t divisor, const Series& series,
                                std::optional<int64_t> added) const {
  const std::optional<Series> values = ValuesOf(base);
  if (!values || divisor < 1) return {};
  int64_t least = INT64_MIN, most = INT64_MAX;
  for (size_t g = 0; g < series.size(); ++g) {
    const int64_t low = divisor * series[g] - (*values)[g];
    least = std::max(least, low);
    most = std::min(most, low + divisor - 1);
  }
  if (least > most) return {};
  const bool holds = added && *added >= least && *added <= most;
  return base.Plus(holds ? *added : least).Over(divisor);
}

Result<ValueId> Padder::AddParameter(const std::string& name, Array value,
                                     std::vector<SizeExpression> formulas) {
  const std::vector<int64_t>& shape = value.shape();
  TUNEC_ASSIGN(const ValueId input,
               builder_.AddInput(name, {value.type(), {shape.begin(), shape.end()}}));
  if (std::ranges::any_of(formulas, &SizeExpression::empty)) formulas.clear();
  used_.push_back({builder_.graph().value(input).name, std::move(value), std::move(formulas)});
  return input;
}

Result<ValueId> Padder::AddValueParameter(const std::string& what, Array exact,
                                          std::vector<SizeExpression> formulas) {
  MixNamed(formulas);
  return AddParameter(fmt::format("value.{}", what), std::move(exact), std::move(formulas));
}

Result<ValueId> Padder::AddConstantParameter(size_t number) {
  const auto constant = [&](size_t g) -> const Array& {
    return graphs_[g]->nodes()[number].constant;
  };
  MixWhatTells([&](size_t g, size_t h) { return HaveSameBytes(constant(g), constant(h)); });
  return AddParameter(fmt::format("value.{}", bucket().nodes()[number].name), constant(0), {});
}

Result<ValueId> Padder::AddNumber(const std::string& what, const Series& series,
                                  const SizeExpression& formula) {
  if (!Varies(series)) return Whole(builder_, series[0]);
  ValueId& known = numbers_[what];
  if (known.valid()) return known;
  Array number(DataType::kI64, {});
  number.SetInt(0, series[0]);
  TUNEC_ASSIGN(known, AddValueParameter(what, std::move(number), {Explain(series, formula)}));
  return known;
}

Result<ValueId> Padder::SizeOf(int parameter) {
  MixNamed({sizes_[parameter].formula});
  return SizeInput(parameter);
}

Result<ValueId> Padder::SizeInput(int parameter) {
  if (!sizes_[parameter].input.valid()) {
    const auto exact = static_cast<double>(sizes_[parameter].series[0]);
    TUNEC_ASSIGN(const ValueId input,
                 AddParameter(sizes_[parameter].name, ScalarOf(DataType::kI32, exact),
                              {sizes_[parameter].formula}));
    sizes_[parameter].input = input;
  }
  return sizes_[parameter].input;
}

Result<ValueId> Padder::CountOf(const Axis& axis) {
  const Series series = SeriesOf(axis);
  if (!Varies(series)) return Whole(builder_, series[0]);
  TUNEC_ASSIGN(const ValueId size, SizeOf(SizeParameterFor(series, FormulaOf(axis))));
  return builder_.Add(Op::kCast, {size}, {{"to", std::string(Name(DataType::kI64))}});
}

}  // namespace tunec::pad
