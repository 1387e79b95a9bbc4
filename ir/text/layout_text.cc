#include "ir/text/layout_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "ir/text/parse_expr.h"
#include "ir/text/print_expr.h"

namespace tunec {
std::string LogicalName(VarId dimension) {
  constexpr std::string_view kNames = "ijklmn";
  const bool short_name = dimension.number() >= 0 && dimension.index() < kNames.size();
  return short_name ? std::string(1, kNames[dimension.index()]) : fmt::format("d{}", dimension);
}

std::string PrintLayout(const Layout& layout, size_t rank) {
  const TextNames names{.variable = LogicalName, .read = {}, .loaded = [](int slot) {
                          return fmt::format("@{}", slot);
                        }};
  std::string variables;
  for (size_t d = 0; d < rank; ++d) {
    if (d > 0) variables += ", ";
    variables += LogicalName(DimensionVar(d));
  }
  std::vector<std::string> map;
  for (const IndexExpr& index : layout.map) map.push_back(PrintIndex(index, names));
  return fmt::format("layout [{}] ({}) -> [{}]", fmt::join(layout.shape, ", "), variables,
                     fmt::join(map, ", "));
}

Result<std::vector<int64_t>> ParseShape(Lexer& lexer) {
  std::vector<int64_t> shape;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("["));
  if (lexer.TryTake("]")) return shape;
  do {
    const Token at = lexer.Peek();
    TUNEC_ASSIGN(const int64_t extent, lexer.ExpectInteger("a dimension"));
    if (extent < 0) {
      return FailAt(lexer.LocationOf(at), ErrorCode::kParse, "dimension {} is negative", extent);
    }
    shape.push_back(extent);
  } while (lexer.TryTake(","));
  if (!lexer.TryTake("]")) return lexer.Expected("',' or ']'");
  return shape;
}

Result<Layout> ParseLayout(Lexer& lexer) {
  Layout layout;
  TUNEC_ASSIGN(layout.shape, ParseShape(lexer));
  std::vector<std::string> names;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("("));
  while (!lexer.TryTake(")")) {
    if (!names.empty()) TUNEC_RETURN_IF_ERROR(lexer.Expect(","));
    TUNEC_ASSIGN(std::string name, lexer.ExpectName("a dimension's name"));
    names.push_back(std::move(name));
  }
  TUNEC_RETURN_IF_ERROR(lexer.Expect("->"));
  const Tensors no_tensors;
  ExprParser exprs(lexer, no_tensors, [&](const std::string& name) -> std::optional<VarId> {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return DimensionVar(static_cast<size_t>(found - names.begin()));
  });
  TUNEC_RETURN_IF_ERROR(lexer.Expect("["));
  do {
    TUNEC_ASSIGN(IndexExpr index, exprs.ParseIndex());
    layout.map.push_back(std::move(index));
  } while (lexer.TryTake(","));
  TUNEC_RETURN_IF_ERROR(lexer.Expect("]"));
  return layout;
}

}  // namespace tunec
