// A class that stores a graph's values while the groups run one after the other. A view is stored
// in the owner's memory, at the view's offset and in the view's layout.
#pragma once

#include <functional>
#include <map>

#include "graph/fuse/fusion_plan.h"
#include "ir/array.h"

namespace tunec {

class ValueStorage {
 public:
  /// Creates storage without values. The graph must outlive the object.
  ValueStorage(const Graph& graph, const FusionPlan& plan);

  void Store(ValueId value, const Array& array);
  /// Returns a value's elements, also for constants.
  Array Load(ValueId value);

 private:
  StorageView ViewOf(ValueId value) const;
  Array& CellsOf(ValueId owner);
  /// Calls `visit` with each element's row-major number and the number of its cell in the owner.
  void ForEach(const StorageView& view, const std::function<void(int64_t, int64_t)>& visit) const;

  const Graph& graph_;
  const std::map<ValueId, DataType> stored_;
  std::map<ValueId, StorageView> views_;
  std::map<ValueId, Array> cells_;  // by owner
};

}  // namespace tunec
