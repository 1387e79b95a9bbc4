#include "graph/ops/value_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/array.h"
#include "support/check.h"

namespace tunec {

bool ValueType::IsFixed() const {
  return std::ranges::all_of(dims, [](const Dim& dim) { return dim.IsFixed(); });
}

std::vector<int64_t> ValueType::Shape() const {
  std::vector<int64_t> shape;
  for (const Dim& dim : dims) {
    TUNEC_CHECK(dim.IsFixed(), "dimension {} is not fixed", dim.parameter());
    shape.push_back(dim.size());
  }
  return shape;
}

int64_t ValueType::Elements() const { return ElementCount(Shape()); }

int64_t ValueType::Bytes() const { return Elements() * static_cast<int64_t>(SizeOf(type)); }

std::string DimText(const Dim& dim) {
  return dim.IsFixed() ? fmt::format("{}", dim.size()) : dim.parameter();
}

std::string ShapeText(const std::vector<Dim>& dims) {
  if (dims.empty()) return "scalar";
  std::string text;
  for (const Dim& dim : dims) text += (text.empty() ? "" : "x") + DimText(dim);
  return text;
}

}  // namespace tunec
