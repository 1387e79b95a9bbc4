// Kernels of fusion groups: from the database where it has the compiled object, else by
// applying the schedule and compiling.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autotune/tuner.h"
#include "compiler/compiler.h"
#include "jit/compile.h"
#include "runtime/kernel.h"

namespace tunec {

/// Packs one weight, once, when the model is loaded. Arguments: the weight, the packed tensor.
struct PrepackCode {
  std::string weight;  // the argument of the group that is packed, by its canonical name
  std::string packed;  // the argument of the kernel that is its result
  int64_t packed_bytes = 0;
  ObjectCode object;
};

/// All code of one group, as it is kept in the database.
struct KernelCode {
  ObjectCode object;
  std::vector<std::string> arguments;  // names, in the order of the kernel's arguments
  std::vector<PrepackCode> prepacks;
  /// Arguments (an input, an output) that may be one storage.
  std::vector<std::pair<std::string, std::string>> in_place;
  int64_t multiply_adds = 0;
  int64_t vector_multiply_adds = 0;
};

/// The JSON of everything but the objects, and the objects' bytes one after the other.
Artifact ToArtifact(const KernelCode& code);
/// kParse when the artifact is damaged.
Result<KernelCode> FromArtifact(const Artifact& artifact);

struct BuiltKernel {
  KernelCode code;
  RankedSchedule schedule;
  bool reused = false;  // the object came from the database
};

/// Tries the task's schedules in order of rank until one applies and compiles. An illegal or
/// unsupported schedule is passed over with a line to `on_detail`; the naive one always applies,
/// with a line to `on_log` that it is slow.
Result<BuiltKernel> BuildKernel(const TuningTask& task, Database* database,
                                const CompileOptions& options, const TunerOptions& tuner);

}  // namespace tunec
