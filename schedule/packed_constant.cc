#include "schedule/packed_constant.h"

namespace tunec {

std::optional<std::string> PackedConstant(const Compute& compute, const PackStep& pack) {
  for (const Tensor& tensor : compute.tensors) {
    const bool argument = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight;
    if (!argument || !tensor.constant) continue;
    if (pack.tensor == tensor.name || pack.tensor.starts_with(tensor.name + ".")) {
      return tensor.name;
    }
  }
  return std::nullopt;
}

}  // namespace tunec
