// Functions to compute the axis order of a tensor in memory from strides, and to apply an order.
#pragma once

#include <nanobind/nanobind.h>
#include <tunec/tunec.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tunec::python {

/// Axes in memory order, outermost first. An empty list means row-major order.
using AxisOrder = std::vector<int64_t>;

/// Converts an axis order of the C interface, for a tensor of `ndim` axes.
AxisOrder OrderOf(const int64_t* axes, int ndim);

/// Returns the stride of each axis in elements. A tensor without strides is row-major.
std::vector<int64_t> StridesOf(const DLTensor& tensor);

/// Tests if the tensor is dense in this order. Strides of axes of size 1 are ignored. Also returns
/// true for a tensor without elements, and if a nonempty order has another number of axes.
bool IsDenseIn(const DLTensor& tensor, const AxisOrder& order);

/// Returns the order in which the tensor is dense, axes of size 1 first. The order is empty if the
/// tensor is row-major or has no elements. Returns nullopt if the tensor is not dense.
std::optional<AxisOrder> DenseOrder(const DLTensor& tensor);

/// Returns an order as the option "layouts" spells it: "0,2,3,1" or "row_major".
std::string Text(const AxisOrder& order);

/// Returns the tensor with the axes in this order, by its method `permute` or `transpose`.
nanobind::object Permuted(nanobind::handle tensor, const AxisOrder& order);
AxisOrder Inverse(const AxisOrder& order);

/// Returns a tensor with the same elements, dense in this order. The tensors may share memory.
nanobind::object CopyInOrder(nanobind::handle tensor, const AxisOrder& order);

}  // namespace tunec::python
