#include "tests/graph/lower/value_storage.h"

namespace tunec {
namespace {

void CopyElement(const Array& from, int64_t source, Array& to, int64_t target) {
  IsFloat(from.type()) ? to.SetDouble(target, from.GetDouble(source))
                       : to.SetInt(target, from.GetInt(source));
}

}  // namespace

ValueStorage::ValueStorage(const Graph& graph, const FusionPlan& plan)
    : graph_(graph), stored_(plan.stored) {
  for (const StorageView& view : plan.views) views_.emplace(view.value, view);
}

void ValueStorage::Store(ValueId value, const Array& array) {
  const StorageView view = ViewOf(value);
  Array& cells = CellsOf(view.owner);
  ForEach(view, [&](int64_t element, int64_t at) { CopyElement(array, element, cells, at); });
}

Array ValueStorage::Load(ValueId value) {
  const Array* constant = graph_.ConstantOf(value);
  if (constant != nullptr) return *constant;
  const StorageView view = ViewOf(value);
  Array array(StoredTypeOf(graph_, stored_, value), graph_.value(value).type.Shape());
  const Array& cells = CellsOf(view.owner);
  ForEach(view, [&](int64_t element, int64_t at) { CopyElement(cells, at, array, element); });
  return array;
}

StorageView ValueStorage::ViewOf(ValueId value) const {
  const auto view = views_.find(value);
  if (view != views_.end()) return view->second;
  return {.value = value, .owner = value, .layout = graph_.value(value).layout};
}

Array& ValueStorage::CellsOf(ValueId owner) {
  const auto found = cells_.find(owner);
  if (found != cells_.end()) return found->second;
  const Value& value = graph_.value(owner);
  const Tensor tensor{.type = StoredTypeOf(graph_, stored_, owner),
                      .shape = value.type.Shape(),
                      .layout = value.layout};
  return cells_.emplace(owner, Array(tensor.type, {StorageElements(tensor)})).first->second;
}

void ValueStorage::ForEach(const StorageView& view,
                           const std::function<void(int64_t, int64_t)>& visit) const {
  const std::vector<int64_t> shape = graph_.value(view.value).type.Shape();
  const Tensor tensor{.type = DataType::kF32, .shape = shape, .layout = view.layout};
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  for (int64_t element = 0; element < elements; ++element) {
    std::vector<IndexExpr> index(shape.size());
    int64_t rest = element;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
    visit(element, view.offset + StorageOffset(tensor, index).constant());
  }
}

}  // namespace tunec
