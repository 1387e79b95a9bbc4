#include "schedule/sketches/sub_compute.h"

#include <algorithm>

#include "schedule/steps/apply_compute_steps.h"

namespace tunec {
namespace {

// Who touches a tensor: the chosen statements or others.
struct Use {
  bool read = false;
  bool written = false;
  bool read_by_others = false;
};

Use UseOf(const Compute& compute, TensorId tensor, size_t begin, size_t end) {
  const auto touches = [&](const auto& access) { return access.tensor == tensor; };
  Use use;
  for (size_t s = 0; s < compute.statements.size(); ++s) {
    const bool chosen = begin <= s && s < end;
    const bool reads = std::ranges::any_of(compute.statements[s].reads, touches);
    const bool writes = std::ranges::any_of(compute.statements[s].writes, touches);
    use.read |= chosen && reads;
    use.written |= chosen && writes;
    use.read_by_others |= !chosen && reads;
  }
  return use;
}

TensorRole RoleOf(const Tensor& tensor, const Use& use) {
  if (use.written) {
    const bool seen = tensor.role == TensorRole::kOutput || use.read_by_others;
    return seen ? TensorRole::kOutput : tensor.role;
  }
  if (use.read && tensor.role != TensorRole::kWeight) return TensorRole::kInput;
  return use.read ? tensor.role : TensorRole::kWorkspace;
}

}  // namespace

Compute StatementsOf(const Compute& compute, size_t begin, size_t end) {
  Compute part = compute;
  const auto first = compute.statements.begin();
  part.statements.assign(first + static_cast<std::ptrdiff_t>(begin),
                         first + static_cast<std::ptrdiff_t>(end));
  for (size_t t = 0; t < part.tensors.size(); ++t) {
    Tensor& tensor = part.tensors[t];
    tensor.role = RoleOf(tensor, UseOf(compute, static_cast<TensorId>(t), begin, end));
  }
  return RemoveUnusedTensors(part);
}

}  // namespace tunec
