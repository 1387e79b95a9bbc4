// Copies of arrays to and from a device's memory, in the layouts of a kernel's tensors.
#pragma once

#include "ir/array.h"
#include "ir/compute.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// Writes a logical row-major array to `memory` in the tensor's layout. Padding is filled with 0xff
/// bytes (NaN for floats). A kernel may load padding but must not use it; NaN makes a use visible.
/// `memory` has StorageBytes(tensor) bytes. Fails if an operation of the device fails.
Status WriteArray(Device& device, const DeviceMemory& memory, const Tensor& tensor,
                  const Array& array);
/// Reads the tensor back as a logical row-major array. Fails if an operation of the device fails.
Result<Array> ReadArray(Device& device, const DeviceMemory& memory, const Tensor& tensor);

/// Allocates the memory that the image's kernel needs besides the arguments. Returns an empty
/// object if the kernel needs none.
Result<DeviceMemory> AllocateWorkspace(Device& device, const KernelImage& image);

}  // namespace tunec
