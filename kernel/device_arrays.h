// Copies of arrays to and from a device's memory, in the layouts of a kernel's tensors.
#pragma once

#include "ir/array.h"
#include "ir/compute.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// Writes a logical row-major array to `memory` in the tensor's layout. Padding of the layout is
/// filled with 0xff bytes (NaN for floats), because a kernel may load the padding but not use it.
/// `memory` has StorageBytes(tensor) bytes. Errors: those of the device.
Status WriteArray(Device& device, const DeviceMemory& memory, const Tensor& tensor,
                  const Array& array);
/// Reads the tensor back as a logical row-major array. Errors: those of the device.
Result<Array> ReadArray(Device& device, const DeviceMemory& memory, const Tensor& tensor);

/// Allocates the memory that the image's kernel needs besides the arguments. Returns an empty
/// object if the kernel needs none.
Result<DeviceMemory> AllocateWorkspace(Device& device, const KernelImage& image);

}  // namespace tunec
