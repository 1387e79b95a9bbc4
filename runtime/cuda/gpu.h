// The class Gpu, which manages the context, the stream and the errors of a GPU. The Device of a GPU
// uses this class.
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

/// A GPU with its primary context and a stream that only this object uses. All users of the GPU in
/// the process share the primary context. A fault of a kernel ends the context permanently: the
/// process loses the GPU, and later work of this object fails with the error of the fault. The same
/// happens if work does not end, because waiting calls of the driver could block forever. Only one
/// thread at a time may use an object.
class Gpu {
 public:
  /// Opens a GPU. Work that is not done after `hang_seconds` of waiting counts as hung. Errors:
  /// kDevice for a driver error, kResourceLimit without memory.
  static Result<std::unique_ptr<Gpu>> Open(const CudaDriver& driver, int number,
                                           double hang_seconds);
  /// Opens the same GPU for another thread, with another stream in the same context.
  Result<std::unique_ptr<Gpu>> OpenForThread() const;
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// A scope in which the context is the calling thread's current one. The end of the scope
  /// restores the caller's context.
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
  /// Returns the stream for new work: the caller's stream if one was set, else the object's own
  /// stream.
  CuStream stream() const { return callers_stream_ != nullptr ? callers_stream_ : stream_; }
  /// Sets the caller's stream; null selects the object's own stream again. The requirements are
  /// those of Device::UseStream.
  void UseStream(CuStream callers) { callers_stream_ = callers; }
  /// Returns true if both objects have the same context, so they can use each other's memory and
  /// modules.
  bool SharesContext(const Gpu& other) const { return context_ == other.context_; }

  /// Returns true if no work should be started: the GPU is lost or hangs, or an error is pending.
  bool Failed() const { return lost_ || waiting_ || Hangs(); }
  /// Returns true if a wait of this object, or of one related by OpenForThread, timed out. Then no
  /// memory, stream or module is freed, because the driver's calls could wait for the work. The end
  /// of the process frees everything.
  bool Hangs() const { return *hangs_; }
  /// Fails with the error by which the GPU was lost, or with kDevice if the GPU hangs.
  Status CheckUsable() const;
  /// Converts the result of a call. Messages contain "cannot {what}", except for a lost GPU. Stores
  /// the first error that loses the GPU. Errors: kResourceLimit without memory, else kDevice.
  Status Check(CuResult result, std::string_view what);
  /// Records the result of a call whose purpose was `what`. If recorded calls failed, the next
  /// Synchronize or Mark returns one of their errors. Allocates memory only for a failure.
  void RecordRequest(CuResult result, std::string_view what);
  /// Records the result of a launch, like RecordRequest. Messages about later faults may name
  /// `symbol`, which must stay valid until the next Synchronize or until the mark is reached.
  void RecordLaunch(CuResult result, std::string_view symbol);
  /// Waits for the stream, unless the GPU is lost. Returns the error of a lost GPU, else the
  /// pending error if there is one, else errors of the work.
  Status Synchronize();
  /// Implement the functions of Device that have the same names.
  Status Mark();
  void FollowMark();
  Result<bool> HasReachedMark();
  Status WaitForMark();
  /// Waits for the work in the stream, unless Failed. Is called before driver calls that could wait
  /// without a timeout. The next Synchronize or Mark returns errors of the work.
  void WaitForStream();

 private:
  Gpu(const CudaDriver& driver, GpuFacts facts, double hang_seconds,
      std::shared_ptr<std::atomic<bool>> hangs)
      : driver_(driver),
        facts_(std::move(facts)),
        hang_seconds_(hang_seconds),
        hangs_(std::move(hangs)) {}
  Status Begin();
  Status Wait();
  /// Polls `query` while it returns kNotReady, for hang_seconds_ at most. Returns the last result.
  CuResult WaitUntilDone(const std::function<CuResult()>& query) const;
  Status CheckWaitResult(CuResult result);
  Status TakePendingError();
  std::string NameLastLaunch() const;

  const CudaDriver driver_;
  const GpuFacts facts_;
  const double hang_seconds_;
  const std::shared_ptr<std::atomic<bool>>
      hangs_;  // shared with the objects that OpenForThread makes
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  CuStream callers_stream_ = nullptr;
  CuEvent mark_ = nullptr;
  bool marked_ = false;  // the mark was recorded and is not known to be reached
  std::optional<Error> lost_;
  std::optional<Error> waiting_;   // error of a launch, for the next Synchronize
  std::string_view last_started_;  // last symbol since the last wait; empty: none
  bool started_several_ = false;
};

}  // namespace tunec
