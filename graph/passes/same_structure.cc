#include "graph/passes/same_structure.h"

#include "graph/ops/attributes.h"

namespace tunec {

bool HaveSameStructure(const Graph& a, const Graph& b) {
  if (a.IsSameObject(b)) return true;
  if (a.nodes().size() != b.nodes().size() || a.values().size() != b.values().size()) return false;
  if (a.outputs() != b.outputs()) return false;
  for (size_t n = 0; n < a.nodes().size(); ++n) {
    const Node& x = a.nodes()[n];
    const Node& y = b.nodes()[n];
    if (x.op != y.op || x.inputs != y.inputs || x.outputs != y.outputs) return false;
    if (!HaveSameAttributes(x.attributes, y.attributes) || x.constant.data() != y.constant.data())
      return false;
  }
  for (size_t v = 0; v < a.values().size(); ++v)
    if (a.values()[v].layout != b.values()[v].layout) return false;
  return true;
}

}  // namespace tunec
