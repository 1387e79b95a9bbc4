// The values of a graph as they lie in memory when its groups run one after the other: views
// within their owners' storage, found there by their layouts.
#pragma once

#include <functional>
#include <map>

#include "graph/fuse/fusion_plan.h"
#include "ir/array.h"

namespace tunec {

class ValueStorage {
 public:
  /// The graph must outlive it.
  ValueStorage(const Graph& graph, const FusionPlan& plan);

  void Store(ValueId value, const Array& array);
  /// Constants too.
  Array Load(ValueId value);

 private:
  StorageView ViewOf(ValueId value) const;
  Array& CellsOf(ValueId owner);
  /// Visits (element in row-major order, cell of the owner).
  void ForEach(const StorageView& view, const std::function<void(int64_t, int64_t)>& visit) const;

  const Graph& graph_;
  const std::map<ValueId, DataType> stored_;
  std::map<ValueId, StorageView> views_;
  std::map<ValueId, Array> cells_;  // by owner
};

}  // namespace tunec
