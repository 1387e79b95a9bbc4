#include "python/native/borrow.h"

#include <string_view>
#include <utility>

#include "api/run/tensor_shape.h"
#include "python/native/errors.h"

namespace nb = nanobind;

namespace tunec::python {
namespace {

constexpr uint8_t kBoolCode = 6;  // kDLBool, which older versions of dlpack.h lack

/// Returns the element type of a buffer with this format of Python's module struct. The result has
/// 0 bits if the format is not supported.
DLDataType TypeOfFormat(const char* format, Py_ssize_t itemsize) {
  std::string_view text = format == nullptr ? "B" : format;
  if (text.starts_with('@') || text.starts_with('=') || text.starts_with('<'))
    text.remove_prefix(1);
  if (text.size() != 1) return {0, 0, 1};
  const auto bits = static_cast<uint8_t>(8 * itemsize);
  const char letter = text[0];
  if (letter == '?') return {kBoolCode, bits, 1};
  if (std::string_view("bhilqn").contains(letter)) return {kDLInt, bits, 1};
  if (std::string_view("BHILQN").contains(letter)) return {kDLUInt, bits, 1};
  if (std::string_view("efd").contains(letter)) return {kDLFloat, bits, 1};
  return {0, 0, 1};
}

/// Returns str(object). Raises the exception of its __str__.
std::string Text(const nb::object& object) {
  PyObject* const text = PyObject_Str(object.ptr());
  if (text == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(text).c_str();
}

[[noreturn]] void Wrong(const std::string& what, const std::string& problem) {
  Raise(TUNEC_INVALID_ARGUMENT, what + " " + problem);
}

/// Names of a capsule of `__dlpack__`: while the capsule owns its tensor, and after a caller has
/// taken the tensor.
struct Capsule {
  const char* fresh;
  const char* used;
};
constexpr Capsule kVersioned = {"dltensor_versioned", "used_dltensor_versioned"};
constexpr Capsule kPlain = {"dltensor", "used_dltensor"};

}  // namespace

std::string TypeName(nb::handle object) {
  const nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
  return Text(type.attr("__name__"));
}

// Delegates to the default constructor, so that the destructor releases a buffer after a throw.
Borrowed::Borrowed(nb::handle object, Access access, const std::string& what) : Borrowed() {
  Take(object, access, what);
  if (const auto problem = ShapeProblem(tensor_)) Wrong(what, *problem);
}

void Borrowed::Take(nb::handle object, Access access, const std::string& what) {
  if (TakeByTable(object)) return;
  if (PyObject_CheckBuffer(object.ptr()) != 0 && TakeBuffer(object, access, what)) return;
  TakeCapsule(object, access, what);
}

Borrowed::~Borrowed() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
}

int Borrowed::Visit(visitproc visit, void* arg) const {
  Py_VISIT(buffer_.obj);
  Py_VISIT(capsule_.ptr());
  return 0;
}

void Borrowed::Swap(Borrowed& other) noexcept {
  std::swap(tensor_, other.tensor_);
  strides_.swap(other.strides_);
  shape_.swap(other.shape_);
  std::swap(capsule_, other.capsule_);
  std::swap(buffer_, other.buffer_);
  std::swap(has_buffer_, other.has_buffer_);
}

bool Borrowed::TakeByTable(nb::handle object) {
  const DlpackExchange* exchange = ExchangeOf(object.ptr());
  if (exchange == nullptr || exchange->borrow == nullptr) return false;
  if (exchange->borrow(object.ptr(), &tensor_) == 0) return true;
  // The buffer protocol or `__dlpack__` may support the object; else TakeCapsule raises an error.
  PyErr_Clear();
  return false;
}

bool Borrowed::TakeBuffer(nb::handle object, Access access, const std::string& what) {
  const int flags = PyBUF_FORMAT | PyBUF_STRIDES | (access == Access::kWrite ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) {
    PyErr_Clear();
    // NumPy has no buffer format for types that other packages add, such as bfloat16.
    if (nb::hasattr(object, "dtype") && Text(object.attr("dtype")) == "bfloat16") {
      TakeBfloat16(object, access, what);
      return true;
    }
    if (access == Access::kWrite &&
        PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES) == 0) {
      has_buffer_ = true;
      Wrong(what, "is read-only");
    }
    PyErr_Clear();
    return false;
  }
  has_buffer_ = true;
  const DLDataType type = TypeOfFormat(buffer_.format, buffer_.itemsize);
  if (type.bits == 0)
    Wrong(what,
          "has elements of format '" + std::string(buffer_.format) + "', which is not supported");
  shape_.assign(buffer_.shape, buffer_.shape + buffer_.ndim);
  // Arrays of ctypes are row-major and have no strides, even if strides are requested.
  const bool has_strides = buffer_.strides != nullptr;
  for (int i = 0; has_strides && i < buffer_.ndim; ++i) {
    if (buffer_.strides[i] % buffer_.itemsize != 0)
      Wrong(what, "has a stride that is not a multiple of its element size");
    strides_.push_back(buffer_.strides[i] / buffer_.itemsize);
  }
  tensor_ = {buffer_.buf,
             {kDLCPU, 0},
             buffer_.ndim,
             type,
             shape_.data(),
             has_strides ? strides_.data() : nullptr,
             0};
  return true;
}

void Borrowed::TakeBfloat16(nb::handle object, Access access, const std::string& what) {
  const nb::object bits = object.attr("view")("uint16");
  if (!TakeBuffer(bits, access, what)) Wrong(what, "has no buffer");
  tensor_.dtype.code = kDLBfloat;
}

void Borrowed::TakeCapsule(nb::handle object, Access access, const std::string& what) {
  if (!nb::hasattr(object, "__dlpack__"))
    Wrong(what, "is of type " + TypeName(object) +
                    ", expected a tensor: a NumPy array, or anything with DLPack");
  capsule_ = object.attr("__dlpack__")();
  PyObject* capsule = capsule_.ptr();
  if (PyCapsule_IsValid(capsule, kVersioned.fresh) != 0) {
    const auto* managed =
        static_cast<DlpackManaged*>(PyCapsule_GetPointer(capsule, kVersioned.fresh));
    if (access == Access::kWrite && (managed->flags & kDlpackReadOnly) != 0)
      Wrong(what, "is read-only");
    tensor_ = managed->tensor;
    return;
  }
  // An unversioned capsule points to a struct whose first member is the tensor. The capsule still
  // owns and frees the struct.
  const auto* tensor = static_cast<DLTensor*>(PyCapsule_GetPointer(capsule, kPlain.fresh));
  if (tensor == nullptr) {
    PyErr_Clear();
    Wrong(what, "has a __dlpack__ that returns no tensor");
  }
  tensor_ = *tensor;
}

}  // namespace tunec::python
