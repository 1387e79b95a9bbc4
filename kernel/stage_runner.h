// Private to kernel/: one stage of the pipeline, and everything around it.
#pragma once

#include <string_view>
#include <utility>

#include "kernel/loop_pipeline.h"
#include "support/stopwatch.h"

namespace tunec {

class StageRunner {
 public:
  explicit StageRunner(const LoopPipelineOptions& options)
      : options_(options), verify_(options.verify) {}

  const LoopPipelineOptions& options() const { return options_; }

  /// Runs a stage that returns Result<T> or T, and says which part of the kernel it was for.
  /// Whatever it made is verified, where the options say so, and shown.
  template <class T, class Stage>
  Result<T> Run(std::string_view stage, std::string_view name, const Stage& make) const {
    const Stopwatch watch;
    Result<T> made = make();
    const double milliseconds = watch.Milliseconds();
    if (made) TUNEC_RETURN_IF_ERROR(Finish({stage, name, milliseconds}, *made));
    return made;
  }

  /// What follows the stage itself, of one that makes several products.
  template <class T>
  Status Finish(const StageRecord& record, const T& product) const {
    // What was made is the runner's until it is handed on.
    Plant(record, const_cast<T&>(product));
    if (verify_ == VerifyStages::kEach) {
      TUNEC_RETURN_IF_ERROR(InStage(record.stage, Verify(product)));
    }
    Show(record, &product);
    return {};
  }

  /// The same of a stage that only checks what is there.
  template <class T, class Stage>
  Status Check(std::string_view stage, std::string_view name, const T& checked,
               const Stage& check) const {
    const Stopwatch watch;
    TUNEC_RETURN_IF_ERROR(check());
    Show({stage, name, watch.Milliseconds()}, &checked);
    return {};
  }

  /// The last word before code is generated.
  Status VerifyLast(const LoopNest& nest) const;

  /// Loops of a schedule that is not legal promise nothing.
  void StopVerifying() { verify_ = VerifyStages::kLast; }

  template <class T>
  void Plant(const StageRecord& record, T& product) const {
    if (options_.plant) options_.plant(record, &product);
  }

 private:
  void Show(const StageRecord& record, const StageProduct& product) const {
    if (options_.on_stage) options_.on_stage(record, product);
  }
  static Status InStage(std::string_view stage, Status status);

  const LoopPipelineOptions& options_;
  VerifyStages verify_;
};

}  // namespace tunec
