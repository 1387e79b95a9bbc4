#include "graph/ops/value_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/array.h"
#include "ir/expr/index_expr.h"
#include "ir/size/size_text.h"

namespace tunec {

Dim FixedDim(int64_t size) { return std::clamp(size, -kUnbounded, kUnbounded); }

bool ValueType::IsFixed() const { return std::ranges::all_of(dims, &Dim::IsConstant); }

std::vector<int64_t> ValueType::Shape() const {
  std::vector<int64_t> shape;
  for (const Dim& dim : dims) shape.push_back(dim.Value());
  return shape;
}

int64_t ValueType::Elements() const { return ElementCount(Shape()); }

int64_t ValueType::Bytes() const { return Elements() * static_cast<int64_t>(SizeOf(type)); }

std::string DimText(const Dim& dim) {
  const std::optional<std::string> name = dim.AsName();
  if (name) return *name;
  return dim.IsConstant() || !dim.IsKnown() ? Print(dim) : fmt::format("({})", Print(dim));
}

std::string ShapeText(const std::vector<Dim>& dims) {
  if (dims.empty()) return "scalar";
  std::string text;
  for (const Dim& dim : dims) text += (text.empty() ? "" : "x") + DimText(dim);
  return text;
}

}  // namespace tunec
