// Measurement of candidates in this process. A candidate is compiled and loaded, and the weights
// are packed. Then the outputs are checked, and the runs are timed. The worker process runs this
// code, so the tuner survives a candidate that crashes or hangs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/measure/measure_time.h"
#include "autotune/measure/measurement.h"
#include "autotune/measure/timing_lock.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

struct LoopPipelineOptions;

/// A hook for tests and benchmarks. It is called before a candidate is compiled, with the text of
/// the schedule. It may change the options, for example to inject faults into the candidate
/// (LoopPipelineOptions::plant). The hook may be empty; it is called from several threads.
using CandidateHook = std::function<void(LoopPipelineOptions&, std::string_view schedule)>;

/// A candidate after compilation, or the reason why it failed. Move-only.
class CompiledCandidate {
 public:
  CompiledCandidate();
  CompiledCandidate(CompiledCandidate&&) noexcept;
  CompiledCandidate& operator=(CompiledCandidate&&) noexcept;
  ~CompiledCandidate();
  /// Returns the failure of a candidate that could not be compiled; none for other candidates.
  const std::optional<Measurement>& failure() const;

 private:
  friend class Workbench;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A bench that compiles and measures the candidates of one workload. It owns the device, and the
/// workload's arguments and reference outputs.
class Workbench {
 public:
  /// Opens the device, computes the reference outputs and allocates the arguments. The workbench
  /// times kernels only while it holds `lock`, unless `lock` is null. Computing the reference
  /// leaves most threads idle, so the first candidates of `ahead` are compiled at the same time.
  /// Compile waits for these compilations and takes their code. Requires: the pool and the lock
  /// outlive the workbench. Errors: of the device, of ComputeKernelReference, and kInvalidArgument
  /// without a lowering.
  static Result<Workbench> Make(Workload workload, ThreadPool& pool, CandidateHook hook = {},
                                TimingLock* lock = nullptr,
                                std::span<const CandidateRequest> ahead = {});
  Workbench(Workbench&&) noexcept;
  Workbench& operator=(Workbench&&) noexcept;
  ~Workbench();

  const Workload& workload() const;
  /// Returns the bytes of the arguments, outputs included, and of the data that checks the outputs.
  size_t Bytes() const;

  /// Frees the memory of the loaded incumbent. It is loaded again when it is needed.
  void DropIncumbent();

  /// Compiles a candidate. Thread-safe. Never fails: an error is stored in the candidate.
  CompiledCandidate Compile(const CandidateRequest& request) const;
  /// Checks a candidate, then times it. If the host emulates the target's device, the time is
  /// predicted from the device's code, and only some blocks of a large kernel are checked
  /// (sample_blocks.h). Not thread-safe. `incumbent` is the fastest known schedule: runs of
  /// both alternate, so that changes of the machine's speed do not affect the choice. Timing ends
  /// early if the candidate is clearly slower. It is repeated after a pause if many turns are
  /// disturbed, unless the pauses of this workbench are long already. The candidate is timed alone
  /// if the incumbent cannot run. The status is kCrashed if the device
  /// failed at the candidate; the workbench must not be used afterwards.
  Measurement Measure(CompiledCandidate candidate, const std::optional<Incumbent>& incumbent,
                      const TimingPolicy& policy = {});
  /// Times the candidates that do not fail in turns (CompareInTurns). The first of them is the
  /// reference. The outputs are not checked, since Measure has checked them. The status is kCrashed
  /// under the same condition as in Measure. Requires: a target whose times are measured.
  std::vector<Measurement> Compare(std::vector<CompiledCandidate> candidates,
                                   const CompareLimits& limits, const TimingPolicy& policy = {});

 private:
  struct Impl;
  explicit Workbench(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
