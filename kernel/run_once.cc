#include "kernel/run_once.h"

#include <utility>

#include "ir/array_storage.h"
#include "jit/open_device.h"
#include "kernel/compile_kernel.h"
#include "support/check.h"

namespace tunec {
namespace {

size_t BytesOf(const Tensor& tensor) { return static_cast<size_t>(StorageBytes(tensor)); }

// Straight into the device's memory where the host sees it, else by way of a copy.
Status WriteTensor(Device& device, const DeviceMemory& memory, const Tensor& tensor,
                   const Array& array) {
  if (memory.on_host != nullptr) {
    ToStorage(tensor, array, memory.on_host);
    return {};
  }
  std::vector<std::byte> storage(BytesOf(tensor));
  ToStorage(tensor, array, storage.data());
  return device.CopyIn(memory.address, storage.data(), storage.size());
}

Result<Array> ReadTensor(Device& device, const DeviceMemory& memory, const Tensor& tensor) {
  if (memory.on_host != nullptr) return FromStorage(tensor, memory.on_host);
  std::vector<std::byte> storage(BytesOf(tensor));
  TUNEC_RETURN_IF_ERROR(device.CopyOut(storage.data(), memory.address, storage.size()));
  return FromStorage(tensor, storage.data());
}

}  // namespace

Result<std::vector<Array>> RunOnce(const LoopNest& nest, const KernelImage& image,
                                   std::span<const Array> arguments, Device& device) {
  std::vector<DeviceMemory> memory;
  std::vector<void*> addresses;
  size_t next_argument = 0;
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    TUNEC_ASSIGN(DeviceMemory own, device.Allocate(BytesOf(tensor)));
    if (tensor.role != TensorRole::kOutput) {
      TUNEC_CHECK(next_argument < arguments.size(), "nest {} lacks arguments", nest.name);
      TUNEC_RETURN_IF_ERROR(WriteTensor(device, own, tensor, arguments[next_argument++]));
    }
    addresses.push_back(own.address);
    memory.push_back(std::move(own));
  }
  TUNEC_ASSIGN(const auto kernel, device.Load(image, addresses));
  kernel->Launch();
  TUNEC_RETURN_IF_ERROR(device.Synchronize());
  std::vector<Array> outputs;
  for (size_t i = 0; i < memory.size(); ++i) {
    const Tensor& tensor = nest.tensors[Arguments(nest)[i]];
    if (tensor.role != TensorRole::kOutput) continue;
    TUNEC_ASSIGN(Array output, ReadTensor(device, memory[i], tensor));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Result<std::vector<Array>> CompileAndRun(const LoopNest& nest, std::span<const Array> arguments,
                                         const Target& target, ThreadPool& pool) {
  TUNEC_ASSIGN(const auto device, OpenDevice(target, pool));
  TUNEC_ASSIGN(const KernelImage image, EmitImage(nest, target));
  return RunOnce(nest, image, arguments, *device);
}

}  // namespace tunec
