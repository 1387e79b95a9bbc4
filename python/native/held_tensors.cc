#include "python/native/held_tensors.h"

#include <algorithm>
#include <span>
#include <utility>

namespace nb = nanobind;

namespace tunec::python {
namespace {

std::span<const int64_t> SizesOf(const DLTensor& tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

std::span<const int64_t> StridesIn(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return {};
  return {tensor.strides, static_cast<size_t>(tensor.ndim)};
}

/// Tests if two tensors at one address have the same offset, type, shape and strides.
bool AreOne(const DLTensor& a, const DLTensor& b) {
  return a.byte_offset == b.byte_offset && a.dtype.code == b.dtype.code &&
         a.dtype.bits == b.dtype.bits && std::ranges::equal(SizesOf(a), SizesOf(b)) &&
         std::ranges::equal(StridesIn(a), StridesIn(b));
}

}  // namespace

const DLTensor& HeldTensors::Hold(nb::handle object, const std::string& what) {
  Borrowed tensor(object, Access::kRead, what);
  const void* memory = tensor.tensor().data;
  const auto known = latest_.find(memory);
  if (known != latest_.end() && AreOne(held_[known->second].tensor.tensor(), tensor.tensor()))
    return held_[known->second].tensor.tensor();
  latest_[memory] = held_.size();
  return held_.emplace_back(nb::borrow(object), std::move(tensor)).tensor.tensor();
}

int HeldTensors::Visit(visitproc visit, void* arg) const {
  for (const Held& held : held_) {
    Py_VISIT(held.object.ptr());
    if (const int stopped = held.tensor.Visit(visit, arg)) return stopped;
  }
  return 0;
}

}  // namespace tunec::python
