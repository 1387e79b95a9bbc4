// New tensors for a model's outputs, made by NumPy or by the library of an input.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tunec/tunec.h>

#include <string>
#include <vector>

#include "python/native/exchange.h"
#include "python/native/strides.h"

namespace tunec::python {

/// Returns the name of a dtype in the spelling of NumPy and torch, such as "float32".
std::string NameOf(DLDataType type);

/// A maker of tensors for one output. Only MakeArray and MakeWith may raise Python exceptions.
class Result {
 public:
  /// Prepares tensors whose axes have `order` in memory.
  Result(DLDataType type, int ndim, const int64_t* shape, AxisOrder order);

  const AxisOrder& order() const { return order_; }

  /// Returns a dense, uninitialized NumPy array. Raises tunec.Unsupported for bfloat16 if the
  /// package ml_dtypes is missing.
  nanobind::object MakeArray();
  /// Returns a dense, uninitialized tensor on `device`, made by the library of `exchange`. Raises
  /// a RuntimeError if that library cannot allocate the tensor.
  nanobind::object MakeWith(const DlpackExchange& exchange, DLDevice device) const;

 private:
  AxisOrder order_;
  std::vector<int64_t> stored_shape_;
  DLTensor prototype_ = {};  // type and rank; a call adds shape and device
  nanobind::object sizes_;
  nanobind::object numpy_type_;  // null until an array is made
};

}  // namespace tunec::python
