#include "graph/onnx/handlers/handlers.h"

#include <map>
#include <utility>

#include "graph/onnx/handlers/all_handlers.h"
#include "support/check.h"

namespace tunec::onnx_import {
namespace {

using Table = std::map<std::pair<std::string_view, std::string_view>, const Handler*>;

Table MakeTable() {
  Table table;
  for (const auto part :
       {ElementwiseHandlers(),    BroadcastHandlers(), ReduceHandlers(),    MatmulHandlers(),
        AttentionHandlers(),      ConvHandlers(),      PoolHandlers(),      NormHandlers(),
        ShapeHandlers(),          SliceHandlers(),     IndexHandlers(),     ConstantHandlers(),
        ResizeHandlers(),         QuantizeHandlers(),  LossHandlers(),      ScatterHandlers(),
        SequenceMixingHandlers(), SamplingHandlers(),  RecurrentHandlers(), SignalHandlers()}) {
    for (const Handler& handler : part) {
      const bool is_new =
          table.emplace(std::pair(handler.domain, handler.op_type), &handler).second;
      TUNEC_CHECK(is_new, "two handlers for {}.{}", handler.domain, handler.op_type);
    }
  }
  return table;
}

const Table& WholeTable() {
  static const Table table = MakeTable();
  return table;
}

}  // namespace

const Handler* FindHandler(std::string_view domain, std::string_view op_type) {
  const auto it = WholeTable().find(std::pair(domain, op_type));
  return it == WholeTable().end() ? nullptr : it->second;
}

std::vector<const Handler*> AllHandlers() {
  std::vector<const Handler*> handlers;
  for (const auto& [name, handler] : WholeTable()) handlers.push_back(handler);
  return handlers;
}

}  // namespace tunec::onnx_import
