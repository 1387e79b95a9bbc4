// Conversion of logical arrays to and from the storage order of a tensor's layout.
#pragma once

#include <cstddef>

#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// Convert a logical array to the storage order of the tensor's layout, and back. ToStorage writes
/// only the storage elements to which a logical element maps; padding of the layout is unchanged.
/// `storage` must have StorageElements(tensor) elements.
void ToStorage(const Tensor& tensor, const Array& logical, std::byte* storage);
Array FromStorage(const Tensor& tensor, const std::byte* storage);

}  // namespace tunec
