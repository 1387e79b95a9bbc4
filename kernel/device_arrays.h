// Arrays in a device's memory, in the layouts of a kernel's tensors.
#pragma once

#include "ir/array.h"
#include "ir/compute.h"
#include "runtime/device.h"
#include "support/error.h"

namespace tunec {

/// Writes a logical row-major array where the tensor lies, in its layout, with NaN (0xff bytes) in
/// the padding that the layout adds: a kernel may load it, but not use it. `memory` has
/// StorageBytes(tensor) bytes. Errors: the device's.
Status WriteArray(Device& device, const DeviceMemory& memory, const Tensor& tensor,
                  const Array& array);
/// The inverse.
Result<Array> ReadArray(Device& device, const DeviceMemory& memory, const Tensor& tensor);

/// What the image's kernel needs beside its arguments; nothing where it needs none.
Result<DeviceMemory> AllocateWorkspace(Device& device, const KernelImage& image);

}  // namespace tunec
