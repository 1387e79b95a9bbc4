#include "graph/graph_text_names.h"

#include <algorithm>

#include "ir/parse_expr.h"
#include "ir/print_expr.h"

namespace tunec {
namespace {

std::string LogicalName(VarId dimension) {
  constexpr std::string_view kNames = "ijklmn";
  const bool short_name = dimension >= 0 && static_cast<size_t>(dimension) < kNames.size();
  return short_name ? std::string(1, kNames[dimension]) : fmt::format("d{}", dimension);
}

}  // namespace

std::string PrintGraphName(std::string_view name) {
  constexpr std::string_view kWords[] = {"input", "output", "weight", "constant", "graph", "layout",
                                         "from",  "init",   "as",     "_",        "inf",   "nan"};
  const bool word = std::ranges::find(kWords, name) != std::end(kWords);
  return word || !IsIdentifier(name) ? Quote(name) : std::string(name);
}

std::string PrintLayout(const Layout& layout, size_t rank) {
  const TextNames names{.variable = LogicalName, .read = {}, .loaded = [](int slot) {
                          return fmt::format("@{}", slot);
                        }};
  std::string variables, map;
  for (size_t d = 0; d < rank; ++d)
    variables += (d > 0 ? ", " : "") + LogicalName(static_cast<VarId>(d));
  for (const IndexExpr& index : layout.map)
    map += (map.empty() ? "" : ", ") + PrintIndex(index, names);
  return fmt::format("layout [{}] ({}) -> [{}]", fmt::join(layout.shape, ", "), variables, map);
}

Result<Layout> ParseLayout(Lexer& lexer) {
  Layout layout;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("["));
  while (!lexer.TryTake("]")) {
    if (!layout.shape.empty()) TUNEC_RETURN_IF_ERROR(lexer.Expect(","));
    TUNEC_ASSIGN(const int64_t size, lexer.ExpectInteger("a size"));
    layout.shape.push_back(size);
  }
  std::vector<std::string> names;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("("));
  while (!lexer.TryTake(")")) {
    if (!names.empty()) TUNEC_RETURN_IF_ERROR(lexer.Expect(","));
    TUNEC_ASSIGN(std::string name, lexer.ExpectName("a dimension's name"));
    names.push_back(std::move(name));
  }
  TUNEC_RETURN_IF_ERROR(lexer.Expect("->"));
  const std::vector<Tensor> no_tensors;
  ExprParser indices(lexer, no_tensors, [&](const std::string& name) -> std::optional<VarId> {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<VarId>(found - names.begin());
  });
  TUNEC_RETURN_IF_ERROR(lexer.Expect("["));
  do {
    TUNEC_ASSIGN(IndexExpr index, indices.ParseIndex());
    layout.map.push_back(std::move(index));
  } while (lexer.TryTake(","));
  TUNEC_RETURN_IF_ERROR(lexer.Expect("]"));
  return layout;
}

}  // namespace tunec
