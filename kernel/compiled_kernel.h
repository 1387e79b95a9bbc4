// All code of one fusion group under one schedule: what the tuner measures, the database keeps and
// a model runs.
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

/// Packs one weight, once, when the model is loaded, on the host. Arguments: the weight, the packed
/// tensor.
struct CompiledPrepack {
  std::string weight;  // the argument of the group that is packed, by its canonical name
  std::string packed;  // the argument of the kernel that is its result
  int64_t packed_bytes = 0;
  KernelImage image;
  /// Of a device's kernel, whose target says nothing of the host: what the code asks of the host.
  std::set<std::string> host_features = {};
  bool operator==(const CompiledPrepack&) const = default;
};

struct CompiledKernel {
  KernelImage image;
  /// Names, in the order of the kernel's arguments: those of the group's Compute and the `packed`
  /// of prepacks.
  std::vector<std::string> arguments;
  std::vector<CompiledPrepack> prepacks;
  /// Arguments (an input, an output) that may be one storage.
  std::vector<std::pair<std::string, std::string>> in_place;
  /// Of a device's kernel, what each phase does, from which its time is predicted. Counted where
  /// the loops are at hand, so that nobody has to make them again.
  std::vector<PhaseWork> work;
  bool operator==(const CompiledKernel&) const = default;
};

/// The JSON of everything but the images, and the images' bytes one after the other.
Artifact ToArtifact(const CompiledKernel& kernel);
/// kParse when the artifact is damaged.
Result<CompiledKernel> FromArtifact(const Artifact& artifact);

}  // namespace tunec
