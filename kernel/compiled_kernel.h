// The complete code of one fusion group under one schedule. The tuner measures this object, the
// database stores it, and a model runs it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/records.h"
#include "kernel/predict/phase_work.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// Code that preprocesses one weight on the host, before the first run of the kernel. The code's
/// arguments are the weight and the packed tensor.
struct CompiledPrepack {
  std::string weight;  // the group's argument that is packed, by its canonical name
  std::string packed;  // the kernel's argument that receives the result
  int64_t packed_bytes = 0;
  KernelImage image;
  /// Features that the code requires of the host. The set is empty for a kernel of the host. The
  /// printed target of a device's kernel does not contain the host's features.
  std::set<std::string> host_features = {};
  bool operator==(const CompiledPrepack&) const = default;
};

struct CompiledKernel {
  KernelImage image;
  /// Names in the order of the kernel's arguments. These are arguments of the group's Compute, and
  /// the `packed` names of the prepacks.
  std::vector<std::string> arguments;
  std::vector<CompiledPrepack> prepacks;
  /// Pairs of arguments (an input, an output) that may share storage.
  std::vector<std::pair<std::string, std::string>> in_place;
  /// Work of each phase of a device's kernel, from which the kernel's time is predicted. The work
  /// is counted while the loops are available, so the loops need not be generated again.
  std::vector<PhaseWork> work;
  bool operator==(const CompiledKernel&) const = default;
};

/// Returns an artifact: JSON of everything except the images, and the concatenated bytes of the
/// images.
Artifact ToArtifact(const CompiledKernel& kernel);
/// Returns the kernel of an artifact. Fails with kParse for a malformed artifact or another format.
Result<CompiledKernel> FromArtifact(const Artifact& artifact);

}  // namespace tunec
