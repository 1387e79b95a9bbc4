#include "python/native/results.h"

#include <utility>

#include "python/native/errors.h"

namespace nb = nanobind;

namespace tunec::python {
namespace {

nb::object NumpyType(DLDataType type) {
  if (type.code != kDLBfloat) return nb::module_::import_("numpy").attr("dtype")(NameOf(type));
  try {
    return nb::module_::import_("numpy").attr("dtype")(
        nb::module_::import_("ml_dtypes").attr("bfloat16"));
  } catch (const nb::python_error&) {
    Raise(TUNEC_UNSUPPORTED,
          "an output has type bfloat16; NumPy needs the package ml_dtypes for it");
  }
}

void SetError(void* /*context*/, const char* kind, const char* message) {
  PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, message);
}

}  // namespace

std::string NameOf(DLDataType type) {
  const std::string bits = std::to_string(type.bits);
  switch (type.code) {
    case kDLInt:
      return "int" + bits;
    case kDLUInt:
      return "uint" + bits;
    case kDLFloat:
      return "float" + bits;
    case kDLBfloat:
      return "bfloat16";
    default:
      return "bool";
  }
}

Result::Result(DLDataType type, int ndim, const int64_t* shape, AxisOrder order)
    : order_(std::move(order)), stored_shape_(shape, shape + ndim) {
  for (size_t i = 0; i < order_.size(); ++i) stored_shape_[i] = shape[order_[i]];
  prototype_.dtype = type;
  prototype_.ndim = ndim;
  sizes_ = nb::steal(PyTuple_New(ndim));
  for (int i = 0; i < ndim; ++i)
    PyTuple_SetItem(sizes_.ptr(), i, PyLong_FromLongLong(stored_shape_[static_cast<size_t>(i)]));
}

nb::object Result::MakeArray() {
  // The function is looked up once and never released: static destructors run too late.
  static const nb::handle empty = nb::object(nb::module_::import_("numpy").attr("empty")).release();
  if (!numpy_type_.is_valid()) numpy_type_ = NumpyType(prototype_.dtype);
  const nb::object array = empty(sizes_, numpy_type_);
  return Permuted(array, Inverse(order_));
}

nb::object Result::MakeWith(const DlpackExchange& exchange, DLDevice device) const {
  DLTensor prototype = prototype_;
  prototype.shape = const_cast<int64_t*>(stored_shape_.data());
  prototype.device = device;
  DlpackManaged* managed = nullptr;
  if (exchange.allocate(&prototype, &managed, nullptr, SetError) != 0) throw nb::python_error();
  void* object = nullptr;
  if (exchange.wrap(managed, &object) != 0) throw nb::python_error();
  const nb::object tensor = nb::steal(static_cast<PyObject*>(object));
  return Permuted(tensor, Inverse(order_));
}

}  // namespace tunec::python
