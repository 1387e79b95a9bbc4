// How a tensor lies in memory, read from its strides.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/tunec.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tunec::python {

/// The axes as they lie, outermost first. Empty: in their order, which is row-major.
using AxisOrder = std::vector<int64_t>;

/// That of the C interface, for a tensor of `ndim` axes.
AxisOrder OrderOf(const int64_t* axes, int ndim);

/// Of each axis, in elements, also where the tensor leaves them out: then it is row-major.
std::vector<int64_t> StridesOf(const DLTensor& tensor);

/// Whether the tensor is dense in this order. Strides of axes of one element say nothing.
bool LiesIn(const DLTensor& tensor, const AxisOrder& order);

/// The order in which the tensor is dense; axes of one element come first. None: it is not dense.
std::optional<AxisOrder> DenseOrder(const DLTensor& tensor);

/// "0,2,3,1", as the option "layouts" spells it; "row_major".
std::string Text(const AxisOrder& order);

/// A view of the tensor with its axes in this order, by its own library; and the view that undoes
/// it.
nanobind::object Permuted(nanobind::handle tensor, const AxisOrder& order);
AxisOrder Inverse(const AxisOrder& order);

/// A dense copy in this order, made by the tensor's own library.
nanobind::object CopyInOrder(nanobind::handle tensor, const AxisOrder& order);

}  // namespace tunec::python
