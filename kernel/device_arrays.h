// Functions that copy arrays to and from a device's memory, in the layouts of a kernel's tensors,
// and that allocate a kernel's workspace.
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

/// Allocates the image's workspace. Returns an empty object if the kernel needs no workspace. Fails
/// if the device cannot allocate memory.
Result<DeviceMemory> AllocateWorkspace(Device& device, const KernelImage& image);

}  // namespace tunec
