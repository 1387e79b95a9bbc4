#include "python/native/strides.h"

#include <algorithm>
#include <numeric>

#include "api/run/tensor_shape.h"

namespace nb = nanobind;

namespace tunec::python {
namespace {

bool HasNoElements(const DLTensor& tensor) { return std::ranges::count(ShapeOf(tensor), 0) > 0; }

AxisOrder InOrder(int ndim) {
  AxisOrder order(static_cast<size_t>(ndim));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool HasStridesOf(const DLTensor& tensor, const AxisOrder& order) {
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t axis = order[i];
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

bool IsRowMajor(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

// Returns the tensor, or a NumPy array of the same elements if there is no method `transpose`.
nb::object WithTranspose(nb::handle tensor) {
  if (nb::hasattr(tensor, "transpose")) return nb::borrow(tensor);
  const bool is_array = nb::hasattr(tensor, "__array__") || PyObject_CheckBuffer(tensor.ptr()) != 0;
  return nb::module_::import_("numpy").attr(is_array ? "asarray" : "from_dlpack")(tensor);
}

}  // namespace

AxisOrder OrderOf(const int64_t* axes, int ndim) {
  return axes == nullptr ? AxisOrder() : AxisOrder(axes, axes + ndim);
}

std::vector<int64_t> StridesOf(const DLTensor& tensor) {
  std::vector<int64_t> strides(ShapeOf(tensor).size());
  int64_t row_major = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = tensor.strides == nullptr ? row_major : tensor.strides[i];
    row_major *= tensor.shape[i];
  }
  return strides;
}

bool IsDenseIn(const DLTensor& tensor, const AxisOrder& order) {
  if (HasNoElements(tensor)) return true;
  if (order.empty()) return IsRowMajor(tensor);
  // A tensor of another rank is accepted here: the run rejects it and gives the reason.
  if (order.size() != ShapeOf(tensor).size()) return true;
  if (tensor.strides != nullptr) return HasStridesOf(tensor, order);
  // Without strides the tensor is row-major. It is dense in `order` if `order` lists the axes of
  // other sizes than 1 by ascending number.
  AxisOrder several = order;
  std::erase_if(several, [&](int64_t axis) { return tensor.shape[axis] == 1; });
  return std::ranges::is_sorted(several);
}

std::optional<AxisOrder> DenseOrder(const DLTensor& tensor) {
  if (IsRowMajor(tensor) || HasNoElements(tensor)) return AxisOrder();
  AxisOrder order = InOrder(tensor.ndim);
  const auto is_one = [&](int64_t axis) { return tensor.shape[axis] == 1; };
  const auto several = std::ranges::stable_partition(order, is_one);
  std::ranges::stable_sort(several, std::ranges::greater(),
                           [&](int64_t axis) { return tensor.strides[axis]; });
  if (!HasStridesOf(tensor, order)) return std::nullopt;
  return order;
}

std::string Text(const AxisOrder& order) {
  if (order.empty()) return "row_major";
  std::string text;
  for (const int64_t axis : order) text += (text.empty() ? "" : ",") + std::to_string(axis);
  return text;
}

AxisOrder Inverse(const AxisOrder& order) {
  AxisOrder inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return inverse;
}

nb::object Permuted(nb::handle tensor, const AxisOrder& order) {
  if (order.empty()) return nb::borrow(tensor);
  nb::list axes;
  for (const int64_t axis : order) axes.append(axis);
  return tensor.attr(nb::hasattr(tensor, "permute") ? "permute" : "transpose")(nb::tuple(axes));
}

nb::object CopyInOrder(nb::handle tensor, const AxisOrder& order) {
  const nb::object permuted = Permuted(WithTranspose(tensor), order);
  const nb::object copy = nb::hasattr(permuted, "contiguous")
                              ? permuted.attr("contiguous")()
                              : nb::module_::import_("numpy").attr("ascontiguousarray")(permuted);
  return Permuted(copy, Inverse(order));
}

}  // namespace tunec::python
