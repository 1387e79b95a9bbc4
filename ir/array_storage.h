// Logical arrays to and from the storage order of a tensor's layout.
#pragma once

#include <cstddef>

#include "ir/array.h"
#include "ir/compute.h"

namespace tunec {

/// Writes a logical array in the storage order of the tensor's layout, and reads it back. Storage
/// elements that no logical element maps to are left as they are. Requires: storage of
/// StorageElements(tensor) elements.
void ToStorage(const Tensor& tensor, const Array& logical, std::byte* storage);
Array FromStorage(const Tensor& tensor, const std::byte* storage);

}  // namespace tunec
