#include "graph/text/graph_text_names.h"

#include <algorithm>

#include "support/lexer.h"

namespace tunec {
std::string PrintGraphName(std::string_view name) {
  constexpr std::string_view kWords[] = {"input", "output", "weight", "constant", "graph", "layout",
                                         "from",  "init",   "as",     "_",        "inf",   "nan"};
  const bool word = std::ranges::find(kWords, name) != std::end(kWords);
  return word || !IsIdentifier(name) ? Quote(name) : std::string(name);
}

}  // namespace tunec
