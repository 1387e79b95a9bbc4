// New tensors for a model's outputs, of the library that its inputs are of.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tunec/tunec.h>

#include <string>
#include <vector>

#include "python/native/exchange.h"
#include "python/native/strides.h"

namespace tunec::python {

/// The dtype's name, as NumPy and torch spell it: "float32".
std::string NameOf(DLDataType type);

/// One output, with what making it again and again needs. Raises nothing until it makes one.
class Result {
 public:
  /// Tensors that lie in `order`.
  Result(DLDataType type, int ndim, const int64_t* shape, AxisOrder order);

  const AxisOrder& order() const { return order_; }

  /// A dense NumPy array, not filled. tunec.Unsupported for bfloat16 without the package ml_dtypes.
  nanobind::object MakeArray();
  /// The same by the table of another library, on `device`. Raises what the library raises.
  nanobind::object MakeBy(const DlpackExchange& exchange, DLDevice device) const;

 private:
  AxisOrder order_;
  std::vector<int64_t> laid_shape_;
  DLTensor prototype_ = {};  // as it lies, but for the shape
  nanobind::object sizes_;
  nanobind::object numpy_type_;  // null until an array is made
};

}  // namespace tunec::python
