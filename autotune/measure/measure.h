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
#include "ir/loop_nest.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

/// Tests only: faults in the way of a candidate, which its schedule's text says. All may be empty.
struct CandidateHooks {
  std::function<void(std::string_view schedule)> before_compiling = {};
  /// What becomes of the loops that were proven legal and verified.
  std::function<LoopNest(LoopNest nest, std::string_view schedule)> change_loops = {};
  std::function<void(std::string_view schedule)> before_timing = {};
};

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
  static Result<Workbench> Make(Workload workload, ThreadPool& pool, CandidateHooks hooks = {});
  Workbench(Workbench&&) noexcept;
  Workbench& operator=(Workbench&&) noexcept;
  ~Workbench();

  const Workload& workload() const;
  /// Of the arguments and of what they are judged by.
  size_t Bytes() const;

  /// Thread-safe. Never fails: an error is in the candidate.
  CompiledCandidate Compile(const CandidateRequest& request) const;
  /// Checks, then times. One at a time. `best`: the fastest time known, for the race.
  Measurement Measure(CompiledCandidate candidate, std::optional<double> best,
                      const TimingPolicy& policy = {});
  /// Times candidates in turns, `rounds` samples each, so that drift meets all alike. Nothing is
  /// checked: they were checked when first measured.
  std::vector<Measurement> Retime(std::vector<CompiledCandidate> candidates, int rounds,
                                  const TimingPolicy& policy = {});

 private:
  struct Impl;
  explicit Workbench(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunec
