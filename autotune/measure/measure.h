// Measuring candidates in this process: apply, compile, load, pack, check, time. The worker's
// work; nothing here survives a candidate that crashes or hangs.
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
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

struct LoopPipelineOptions;

/// Tests only: called before a candidate is compiled, with the text of its schedule. It may put
/// faults in the candidate's way (LoopPipelineOptions::plant). From several threads; may be empty.
using CandidateHook = std::function<void(LoopPipelineOptions&, std::string_view schedule)>;

/// A candidate after compilation, or the reason why there is none. Moves only.
class CompiledCandidate {
 public:
  CompiledCandidate();
  CompiledCandidate(CompiledCandidate&&) noexcept;
  CompiledCandidate& operator=(CompiledCandidate&&) noexcept;
  ~CompiledCandidate();
  /// Set when the candidate failed before it could run.
  const std::optional<Measurement>& failure() const;

 private:
  friend class Workbench;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One workload with its arguments, its oracle and the memory that kernels run on.
class Workbench {
 public:
  /// Computes the oracle. The pool must outlive the workbench. Errors: see ComputeOracle.
  static Result<Workbench> Make(Workload workload, ThreadPool& pool, CandidateHook hook = {});
  Workbench(Workbench&&) noexcept;
  Workbench& operator=(Workbench&&) noexcept;
  ~Workbench();

  const Workload& workload() const;
  /// Of the arguments and of what they are judged by.
  size_t Bytes() const;

  /// Thread-safe. Never fails: an error is in the candidate.
  CompiledCandidate Compile(const CandidateRequest& request) const;
  /// Checks, then times; where the host stands in for the target's device, the time is the one
  /// that is predicted of the device's code, and large kernels are checked by some of their blocks
  /// (sample_blocks.h). One at a time. `incumbent`: the fastest known, for the race; on a device
  /// the candidate is timed beside it, so that clocks that change choose nobody, and alone where
  /// its schedule can't be run. kCrashed for a candidate at which the device failed; after that the
  /// workbench is of no more use.
  Measurement Measure(CompiledCandidate candidate, const std::optional<Incumbent>& incumbent,
                      const TimingPolicy& policy = {});
  /// Times candidates in turns, `rounds` samples each, so that drift meets all alike. Requires: a
  /// target whose times are measured. Nothing is
  /// checked: they were checked when first measured. kCrashed as of Measure.
  std::vector<Measurement> Retime(std::vector<CompiledCandidate> candidates, int rounds,
                                  const TimingPolicy& policy = {});

 private:
  struct Impl;
  explicit Workbench(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
