#include "kernel/run_once.h"

#include <utility>

#include "device/open_device.h"
#include "kernel/compile_kernel.h"
#include "kernel/device_arrays.h"
#include "support/check.h"

namespace tunec {
Result<std::vector<Array>> RunOnce(const LoopNest& nest, const KernelImage& image,
                                   std::span<const Array> arguments, Device& device) {
  std::vector<DeviceMemory> memory;
  std::vector<void*> addresses;
  size_t next_argument = 0;
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    TUNEC_ASSIGN(DeviceMemory own, device.Allocate(static_cast<size_t>(StorageBytes(tensor))));
    if (tensor.role != TensorRole::kOutput) {
      TUNEC_CHECK(next_argument < arguments.size(), "nest {} lacks arguments", nest.name);
      TUNEC_RETURN_IF_ERROR(WriteArray(device, own, tensor, arguments[next_argument++]));
    }
    addresses.push_back(own.address);
    memory.push_back(std::move(own));
  }
  TUNEC_ASSIGN(const DeviceMemory workspace, AllocateWorkspace(device, image));
  TUNEC_ASSIGN(auto code, device.Load(image));
  TUNEC_ASSIGN(const auto kernel,
               device.Bind(std::move(code), std::move(addresses), workspace.address));
  kernel->Start();
  TUNEC_RETURN_IF_ERROR(device.Synchronize());
  std::vector<Array> outputs;
  for (size_t i = 0; i < memory.size(); ++i) {
    const Tensor& tensor = nest.tensors[Arguments(nest)[i]];
    if (tensor.role != TensorRole::kOutput) continue;
    TUNEC_ASSIGN(Array output, ReadArray(device, memory[i], tensor));
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
