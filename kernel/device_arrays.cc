#include "kernel/device_arrays.h"

#include <cstddef>
#include <vector>

#include "ir/array_storage.h"

namespace tunec {
namespace {

size_t BytesOf(const Tensor& tensor) { return static_cast<size_t>(StorageBytes(tensor)); }

}  // namespace

// Writes directly to memory that the host can access; other memory is written through a copy.
Status WriteArray(Device& device, const DeviceMemory& memory, const Tensor& tensor,
                  const Array& array) {
  constexpr std::byte kPadding{0xff};
  if (memory.on_host != nullptr) {
    TUNEC_RETURN_IF_ERROR(device.Fill(memory.address, kPadding, BytesOf(tensor)));
    ToStorage(tensor, array, memory.on_host);
    return {};
  }
  std::vector<std::byte> storage(BytesOf(tensor), kPadding);
  ToStorage(tensor, array, storage.data());
  return device.CopyIn(memory.address, storage.data(), storage.size());
}

Result<Array> ReadArray(Device& device, const DeviceMemory& memory, const Tensor& tensor) {
  if (memory.on_host != nullptr) return FromStorage(tensor, memory.on_host);
  std::vector<std::byte> storage(BytesOf(tensor));
  TUNEC_RETURN_IF_ERROR(device.CopyOut(storage.data(), memory.address, storage.size()));
  return FromStorage(tensor, storage.data());
}

Result<DeviceMemory> AllocateWorkspace(Device& device, const KernelImage& image) {
  if (image.workspace_bytes == 0) return DeviceMemory();
  return device.Allocate(static_cast<size_t>(image.workspace_bytes));
}

}  // namespace tunec
