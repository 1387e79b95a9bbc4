#include "autotune/worker/verify_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/array.h"
#include "polyhedral/check_elements.h"
#include "support/usable_memory.h"

namespace tunec {
namespace {

constexpr int64_t kMostInstances = int64_t{1} << 44;

bool IsArgument(const Tensor& tensor) {
  return tensor.role == TensorRole::kInput || tensor.role == TensorRole::kWeight ||
         tensor.role == TensorRole::kOutput;
}

std::vector<Tensor> ArgumentsOf(const Compute& compute) {
  std::vector<Tensor> arguments;
  std::ranges::copy_if(compute.tensors, std::back_inserter(arguments), IsArgument);
  return arguments;
}

bool StoredAlike(const Tensor& a, const Tensor& b) {
  return a.name == b.name && a.role == b.role && a.type == b.type && a.shape == b.shape &&
         a.layout == b.layout;
}

Status CheckSizes(const Compute& compute) {
  const auto memory = static_cast<double>(UsableMemory());
  double bytes = 0;
  for (const Tensor& tensor : compute.tensors) {
    bytes += static_cast<double>(StorageElements(tensor)) * sizeof(double);
  }
  if (bytes > memory) {
    return Fail(ErrorCode::kResourceLimit,
                "its tensors take {:.3g} bytes as float64, expected at most {:.3g}", bytes, memory);
  }
  for (const Statement& statement : compute.statements) {
    std::vector<int64_t> extents;
    for (const Iterator& it : statement.iterators) extents.push_back(it.extent);
    const int64_t instances = ElementCount(extents);
    if (instances >= 0 && instances <= kMostInstances) continue;
    return Fail(ErrorCode::kResourceLimit, "statement {} has more than {} instances",
                statement.name, kMostInstances);
  }
  return {};
}

Status CheckLowering(const Compute& compute, const Compute& first) {
  TUNEC_RETURN_IF_ERROR(Verify(compute));
  TUNEC_RETURN_IF_ERROR(CheckSizes(compute));
  const std::vector<Tensor> arguments = ArgumentsOf(compute);
  if (!std::ranges::equal(arguments, ArgumentsOf(first), StoredAlike)) {
    return Fail(ErrorCode::kInvalidArgument,
                "its arguments differ from those of the first lowering");
  }
  return CheckElements(compute);
}

Status CheckTarget(const Target& target) {
  // The host is checked even if there is a device, since the host computes the reference outputs.
  const Host& host = target.host;
  const bool wide = host.vector_bits == 512 && host.vector_registers == 32;
  const bool narrow = host.vector_bits == 256 && host.vector_registers == 16;
  if (!wide && !narrow) {
    return Fail(ErrorCode::kInvalidArgument,
                "target has {} vector registers of {} bits, expected 16 of 256 or 32 of 512",
                host.vector_registers, host.vector_bits);
  }
  for (const char* needed : {"avx512f", "avx512bw", "avx512dq", "avx512vl"}) {
    if (!wide || host.Has(needed)) continue;
    return Fail(ErrorCode::kInvalidArgument, "target has vectors of 512 bits without {}", needed);
  }
  return {};
}

}  // namespace

Status Verify(const Workload& workload) {
  TUNEC_RETURN_IF_ERROR(CheckTarget(workload.target));
  if (workload.lowerings.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the workload has no lowering");
  }
  std::set<std::string> names;
  for (const NamedCompute& lowering : workload.lowerings) {
    if (lowering.name.empty() || !names.insert(lowering.name).second) {
      return Fail(ErrorCode::kInvalidArgument, "lowering name '{}' is empty or used twice",
                  lowering.name);
    }
    Status status = CheckLowering(lowering.compute, workload.lowerings.front().compute);
    if (status) continue;
    status.error().message = fmt::format("lowering {}: {}", lowering.name, status.error().message);
    return status;
  }
  return {};
}

}  // namespace tunec
