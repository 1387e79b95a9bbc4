// One GPU of this process, below the Device that it is seen as: context, stream, errors.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/gpu_facts.h"
#include "support/error.h"

namespace tunec {

/// Holds the GPU's primary context, which a process's other users of the GPU share, and a stream of
/// its own. A fault of a kernel ends the context for good: the GPU is lost to the process, and that
/// first error is the answer to whatever is asked afterwards. So it is when work does not end: the
/// driver, asked for anything that waits, would then never answer. Used by one thread at a time.
class Gpu {
 public:
  /// Work that was waited for `hang_seconds` long, and is not done, hangs. kDevice for what the
  /// driver refuses, kResourceLimit without memory for a context.
  static Result<std::unique_ptr<Gpu>> Open(const CudaDriver& driver, int number,
                                           double hang_seconds);
  /// The same GPU once more, for another thread: with another stream in the same context.
  Result<std::unique_ptr<Gpu>> OpenAgain() const;
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// Makes the context the calling thread's current one while it lives, and leaves the caller's own
  /// as it was.
  class Current {
   public:
    explicit Current(Gpu& gpu);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    Gpu& gpu_;
    bool pushed_;
  };

  const CudaDriver& driver() const { return driver_; }
  const GpuFacts& facts() const { return facts_; }
  /// The one that work is put into: its own, unless a caller's was handed in.
  CuStream stream() const { return callers_stream_ != nullptr ? callers_stream_ : stream_; }
  /// Null: its own again. Requires: as Device::UseStream.
  void UseStream(CuStream callers) { callers_stream_ = callers; }
  /// Whether memory and modules of either are the other's.
  bool SharesContext(const Gpu& other) const { return context_ == other.context_; }

  /// Whether nothing should be started: the GPU is lost, or an error waits to be said.
  bool Failed() const { return lost_ || waiting_ || Hangs(); }
  /// Whether something in its context does not end. Then nothing is given back to the driver, which
  /// would wait for that: the end of the process does it.
  bool Hangs() const { return *hangs_; }
  /// The error that the GPU was lost by.
  Status CheckThere() const;
  /// The result of a call that was to do `what`: "cannot {what}". kResourceLimit without memory,
  /// else kDevice. Remembers when the GPU is lost.
  Status Check(CuResult result, std::string_view what);
  /// A call that was to begin `what`: a failure is said by the next Synchronize. Allocates nothing
  /// unless it failed.
  void Asked(CuResult result, std::string_view what);
  /// That function is in the stream now: what goes wrong later is blamed on it. The name has to
  /// stay until the next Synchronize. A failure is said there. Allocates nothing unless it failed.
  void Started(CuResult result, std::string_view symbol);
  /// Waits for the stream. The first error since the last time.
  Status Synchronize();
  /// As of Device.
  Status Mark();
  void FollowMark();
  Result<bool> Reached();
  Status WaitForMark();
  /// Waits for what is in the stream, for a call that would else do so by itself: such a wait has
  /// no end of time. What went wrong is said by the next Synchronize.
  void Settle();

 private:
  Gpu(const CudaDriver& driver, GpuFacts facts, double hang_seconds,
      std::shared_ptr<std::atomic<bool>> hangs)
      : driver_(driver),
        facts_(std::move(facts)),
        hang_seconds_(hang_seconds),
        hangs_(std::move(hangs)) {}
  Status Begin();
  Status Wait();
  /// `query` says whether it is done. kNotReady: it hangs.
  CuResult WaitUntilDone(const std::function<CuResult()>& query) const;
  Status CheckWaited(CuResult result);
  Status SaidByNow();
  std::string InWhat() const;

  const CudaDriver driver_;
  const GpuFacts facts_;
  const double hang_seconds_;
  const std::shared_ptr<std::atomic<bool>> hangs_;  // of all that were opened from the same one
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  CuStream callers_stream_ = nullptr;
  CuEvent mark_ = nullptr;
  bool marked_ = false;  // and not known to be reached
  std::optional<Error> lost_;
  std::optional<Error> waiting_;   // of a launch, to be said by Synchronize
  std::string_view last_started_;  // since the last Synchronize; empty: nothing was
  bool started_several_ = false;
};

}  // namespace tunec
