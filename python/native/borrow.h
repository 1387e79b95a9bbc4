// A Python tensor that is borrowed as a DLTensor, without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tunec/tunec.h>

#include <string>
#include <vector>

#include "python/native/exchange.h"

namespace tunec::python {

/// The access to a tensor that a call requires.
enum class Access : uint8_t { kRead, kWrite };

/// A tensor borrowed from a Python object. Sources are tried in this order: DLPack's table of C
/// functions (torch), the buffer protocol (NumPy and others), `__dlpack__`. The caller holds the
/// interpreter's lock during construction and destruction.
class Borrowed {
 public:
  Borrowed() = default;
  /// Borrows the tensor. `what` names the tensor in messages. Raises tunec.InvalidArgument if
  /// `object` is not a tensor or has an invalid shape, or if the type or stride of a buffer is not
  /// supported. Does so for kWrite too if a buffer or versioned capsule is read-only. Passes on the
  /// exceptions of `__dlpack__`.
  Borrowed(nanobind::handle object, Access access, const std::string& what);
  Borrowed(Borrowed&& other) noexcept { Swap(other); }
  Borrowed& operator=(Borrowed&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Borrowed();

  DLTensor& tensor() { return tensor_; }
  const DLTensor& tensor() const { return tensor_; }

  /// Visits the held Python objects for the garbage collector. This is only needed for tensors that
  /// are held longer than one call.
  int Visit(visitproc visit, void* arg) const;

 private:
  void Take(nanobind::handle object, Access access, const std::string& what);
  bool TakeByTable(nanobind::handle object);
  bool TakeBuffer(nanobind::handle object, Access access, const std::string& what);
  void TakeBfloat16(nanobind::handle object, Access access, const std::string& what);
  void TakeCapsule(nanobind::handle object, Access access, const std::string& what);
  void Swap(Borrowed& other) noexcept;

  DLTensor tensor_ = {};
  std::vector<int64_t> strides_;  // strides of a buffer, in elements
  std::vector<int64_t> shape_;    // sizes of a buffer: Py_ssize_t may differ from int64_t
  nanobind::object capsule_;      // capsule of __dlpack__
  Py_buffer buffer_ = {};
  bool has_buffer_ = false;
};

/// Returns the name of the object's type, for messages.
std::string TypeName(nanobind::handle object);

}  // namespace tunec::python
