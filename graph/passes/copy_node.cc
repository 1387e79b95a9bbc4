#include "graph/passes/copy_node.h"

#include <fmt/ranges.h>

#include "graph/attributes.h"
#include "support/hash.h"

namespace tunec {

bool SameStructure(const Graph& a, const Graph& b) {
  if (a.IsSameObject(b)) return true;
  if (a.nodes().size() != b.nodes().size() || a.values().size() != b.values().size()) return false;
  if (a.outputs() != b.outputs()) return false;
  for (size_t n = 0; n < a.nodes().size(); ++n) {
    const Node& x = a.nodes()[n];
    const Node& y = b.nodes()[n];
    if (x.op != y.op || x.inputs != y.inputs || x.outputs != y.outputs) return false;
    if (!SameAttributes(x.attributes, y.attributes) || x.constant.data() != y.constant.data())
      return false;
  }
  for (size_t v = 0; v < a.values().size(); ++v)
    if (a.values()[v].layout != b.values()[v].layout) return false;
  return true;
}

ValueId AddDerivedConstant(GraphBuilder& builder, const std::string& name, Array array) {
  constexpr int64_t kMostInText = 16;
  if (array.size() <= kMostInText) return builder.AddConstant(name, std::move(array));
  // Names of values change hands while passes run, and equal names must mean equal bytes.
  const std::string_view bytes(reinterpret_cast<const char*>(array.data()), array.bytes());
  const std::string hash = StableHash(bytes).substr(0, 8);
  std::string key =
      fmt::format("{}.{}.{}.{}", name, Name(array.type()), fmt::join(array.shape(), "x"), hash);
  return builder.AddConstant(name, std::move(array), std::move(key));
}

}  // namespace tunec
