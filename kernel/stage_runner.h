// A class that runs the stages of the pipeline, with verification, timing and callbacks. Only
// kernel/ uses this file.
#pragma once

#include <string_view>
#include <utility>

#include "kernel/loop_pipeline.h"
#include "support/stopwatch.h"
#include "support/trace.h"

namespace tunec {

class StageRunner {
 public:
  explicit StageRunner(const LoopPipelineOptions& options)
      : options_(options), verify_(options.verify) {}

  const LoopPipelineOptions& options() const { return options_; }

  /// Runs a stage that returns Result<T> or T. `name` names the kernel or the prepack that the
  /// stage works on. Passes the result to Finish unless the stage fails.
  template <class T, class Stage>
  Result<T> Run(std::string_view stage, std::string_view name, const Stage& make) const {
    const TraceScope scope(stage, name);
    const Stopwatch watch;
    Result<T> made = make();
    const double milliseconds = watch.Milliseconds();
    if (made) TUNEC_RETURN_IF_ERROR(Finish({stage, name, milliseconds}, *made));
    return made;
  }

  /// Passes a stage's result to the option `plant`, verifies the result unless verification is off,
  /// and passes the result to `on_stage`. Must be called for each result of a stage.
  template <class T>
  Status Finish(const StageRecord& record, const T& product) const {
    // The cast is safe, because no stage makes a constant object.
    Plant(record, const_cast<T&>(product));
    if (verify_ == VerifyStages::kEach) {
      TUNEC_RETURN_IF_ERROR(AddStageName(record.stage, Verify(product)));
    }
    Show(record, &product);
    return {};
  }

  /// Runs a stage that does not change `checked`. If the stage succeeds, passes `checked` to
  /// `on_stage`.
  template <class T, class Stage>
  Status Check(std::string_view stage, std::string_view name, const T& checked,
               const Stage& check) const {
    const TraceScope scope(stage, name);
    const Stopwatch watch;
    TUNEC_RETURN_IF_ERROR(check());
    Show({stage, name, watch.Milliseconds()}, &checked);
    return {};
  }

  /// Verifies the loops that a stage receives, in every mode.
  static Status VerifyBefore(std::string_view stage, const LoopNest& nest);

  /// Turns off the verification of later results by Finish, because loops of an illegal schedule
  /// need not satisfy any invariant.
  void StopVerifying() { verify_ = VerifyStages::kLast; }

  template <class T>
  void Plant(const StageRecord& record, T& product) const {
    if (options_.plant) options_.plant(record, &product);
  }

 private:
  void Show(const StageRecord& record, const StageProduct& product) const {
    if (options_.on_stage) options_.on_stage(record, product);
  }
  static Status AddStageName(std::string_view stage, Status status);

  const LoopPipelineOptions& options_;
  VerifyStages verify_;
};

}  // namespace tunec
