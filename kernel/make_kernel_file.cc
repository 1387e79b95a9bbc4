#include "kernel/make_kernel_file.h"

#include <utility>

namespace tunec {

KernelFile MakeKernelFile(const LoopNest& nest, KernelImage image) {
  KernelFile file{.arguments = {}, .image = std::move(image)};
  for (const TensorId id : Arguments(nest)) {
    const Tensor& tensor = nest.tensors[id];
    const auto size = static_cast<int64_t>(SizeOf(tensor.type));
    file.arguments.push_back({.name = tensor.name,
                              .type = tensor.type,
                              .elements = StorageBytes(tensor) / size,
                              .output = tensor.role == TensorRole::kOutput});
  }
  return file;
}

}  // namespace tunec
