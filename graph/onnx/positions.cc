#include "graph/onnx/positions.h"

namespace tunec::onnx_import {

Formula RowNumbers(const Formula& indices, const std::vector<int64_t>& sizes) {
  const NodeContext& node = indices.node();
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
  const Formula given = indices.Cast(DataType::kI64);
  const Formula extents(node, node.Ints64(sizes));
  const Formula positions = Where(Less(given, given.Number(0)), given + extents, given);
  return Sum(positions * Formula(node, node.Ints64(strides)), {indices.rank() - 1});
}

}  // namespace tunec::onnx_import
