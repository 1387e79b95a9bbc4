// The class Gpu, which manages the context, the stream and the errors of a GPU. The Device of a GPU
// is based on this class.
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
/// process loses the GPU, and every later call returns that first error. The same happens if work
/// does not end, because every waiting call of the driver would block forever. Only one thread at a
/// time may use an object.
class Gpu {
 public:
  /// Opens a GPU. Work that is not done after `hang_seconds` of waiting counts as hung. Errors:
  /// kDevice for a driver error, kResourceLimit without memory for a context.
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
  /// Returns true if some work in the context does not end. Then no memory, stream or module is
  /// freed, because the driver's calls would wait for the work. The end of the process frees
  /// everything.
  bool Hangs() const { return *hangs_; }
  /// Fails with the error by which the GPU was lost, or with kDevice if the GPU hangs.
  Status CheckUsable() const;
  /// Converts the result of a call whose purpose was `what`; messages are "cannot {what}". Stores
  /// the error if the GPU is lost. Errors: kResourceLimit without memory, else kDevice.
  Status Check(CuResult result, std::string_view what);
  /// Records the result of a call that started `what`. If the call failed, the next Synchronize or
  /// Mark returns the error. Allocates memory only for a failure.
  void RecordRequest(CuResult result, std::string_view what);
  /// Records that the function `symbol` was put into the stream; later faults are attributed to it.
  /// `symbol` must stay valid until the next Synchronize. That call or Mark returns the error of a
  /// failed launch. Allocates memory only for a failure.
  void RecordLaunch(CuResult result, std::string_view symbol);
  /// Waits for the stream. Returns the pending error if there is one, otherwise errors of the work.
  Status Synchronize();
  /// Implement the functions of Device that have the same names.
  Status Mark();
  void FollowMark();
  Result<bool> HasReachedMark();
  Status WaitForMark();
  /// Waits for the work in the stream. It is called before driver calls that would wait implicitly,
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
  /// Polls `query` until the work is done. Returns kNotReady if the work hangs.
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
