#include "runtime/cuda/gpu.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/cuda/driver_error.h"
#include "runtime/cuda/load_driver.h"

namespace tunec {

Gpu::Current::Current(Gpu& gpu)
    : gpu_(gpu), pushed_(gpu.driver_.CtxPushCurrent(gpu.context_) == CuResult::kSuccess) {}

Gpu::Current::~Current() {
  CuContext popped = nullptr;
  if (pushed_) gpu_.driver_.CtxPopCurrent(&popped);
}

Result<std::unique_ptr<Gpu>> Gpu::Open(const CudaDriver& driver, int number, double hang_seconds) {
  TUNEC_ASSIGN(GpuFacts facts, ReadGpuFacts(driver, number));
  std::unique_ptr<Gpu> gpu(
      new Gpu(driver, std::move(facts), hang_seconds, std::make_shared<std::atomic<bool>>(false)));
  TUNEC_RETURN_IF_ERROR(gpu->Begin());
  return gpu;
}

Result<std::unique_ptr<Gpu>> Gpu::OpenForThread() const {
  TUNEC_RETURN_IF_ERROR(CheckUsable());
  std::unique_ptr<Gpu> gpu(new Gpu(driver_, facts_, hang_seconds_, hangs_));
  TUNEC_RETURN_IF_ERROR(gpu->Begin());
  return gpu;
}

Status Gpu::Begin() {
  TUNEC_RETURN_IF_ERROR(Check(driver_.DeviceGet(&device_, facts_.number), "be opened"));
  TUNEC_RETURN_IF_ERROR(
      Check(driver_.DevicePrimaryCtxRetain(&context_, device_), "make a context"));
  const Current current(*this);
  TUNEC_RETURN_IF_ERROR(
      Check(driver_.StreamCreate(&stream_, kCuStreamNonBlocking), "make a stream"));
  return Check(driver_.EventCreate(&mark_, kCuEventDisableTiming), "make an event");
}

Gpu::~Gpu() {
  if (context_ == nullptr || Hangs()) return;
  {
    const Current current(*this);
    if (mark_ != nullptr) driver_.EventDestroy(mark_);
    if (stream_ != nullptr) driver_.StreamDestroy(stream_);
  }
  driver_.DevicePrimaryCtxRelease(device_);
}

Status Gpu::CheckUsable() const {
  if (lost_) return std::unexpected(*lost_);
  if (Hangs())
    return Fail(ErrorCode::kDevice, "{} hangs in other work of this process", Name(facts_));
  return {};
}

Status Gpu::Check(CuResult result, std::string_view what) {
  if (result == CuResult::kSuccess) return {};
  const std::string text = DescribeCuResult(driver_, result);
  if (LosesDevice(result)) {
    if (!lost_)
      lost_ =
          MakeError(ErrorCode::kDevice, "{} is lost: {}{}", Name(facts_), text, NameLastLaunch());
    return CheckUsable();
  }
  const bool memory = result == CuResult::kOutOfMemory;
  return Fail(memory ? ErrorCode::kResourceLimit : ErrorCode::kDevice, "{} cannot {}: {}",
              Name(facts_), what, text);
}

void Gpu::RecordRequest(CuResult result, std::string_view what) {
  if (result == CuResult::kSuccess) return;
  if (const Status status = Check(result, what); !status && !waiting_) waiting_ = status.error();
}

void Gpu::RecordLaunch(CuResult result, std::string_view symbol) {
  started_several_ = !last_started_.empty();
  last_started_ = symbol;
  if (result != CuResult::kSuccess) RecordRequest(result, fmt::format("start {}", symbol));
}

Status Gpu::Synchronize() {
  TUNEC_RETURN_IF_ERROR(CheckUsable());
  const Status waited = Wait();
  const Status said = TakePendingError();
  last_started_ = {};
  return said ? waited : said;
}

// Clears the pending error and returns it. If there is none, or if the GPU is lost, returns the
// result of CheckUsable.
Status Gpu::TakePendingError() {
  const std::optional<Error> failed = std::exchange(waiting_, std::nullopt);
  if (failed && !lost_) return std::unexpected(*failed);
  return CheckUsable();
}

Status Gpu::Mark() {
  TUNEC_RETURN_IF_ERROR(CheckUsable());
  const Current current(*this);
  // The mark is recorded even if an error is pending: earlier work may be in the stream.
  const CuResult result = driver_.EventRecord(mark_, stream());
  marked_ = result == CuResult::kSuccess;
  RecordRequest(result, "mark the end of a run");
  // Without a mark, WaitForMark would not wait for the work, so this call does.
  if (!marked_ && !lost_) (void)Wait();
  return TakePendingError();
}

void Gpu::FollowMark() {
  if (!marked_ || Failed()) return;
  const Current current(*this);
  RecordRequest(driver_.StreamWaitEvent(stream(), mark_, /*flags=*/0), "wait for the run before");
}

Result<bool> Gpu::HasReachedMark() {
  if (!marked_) return true;
  TUNEC_RETURN_IF_ERROR(CheckUsable());
  const Current current(*this);
  const CuResult result = driver_.EventQuery(mark_);
  if (result == CuResult::kNotReady) return false;
  marked_ = false;
  TUNEC_RETURN_IF_ERROR(Check(result, "end a run"));
  last_started_ = {};
  return true;
}

Status Gpu::WaitForMark() {
  if (!marked_) return {};
  TUNEC_RETURN_IF_ERROR(CheckUsable());
  const Current current(*this);
  const Status waited =
      CheckWaitResult(WaitUntilDone([this] { return driver_.EventQuery(mark_); }));
  marked_ = false;
  last_started_ = {};
  return waited;
}

void Gpu::WaitForStream() {
  if (Failed()) return;
  if (const Status waited = Wait(); !waited && !lost_) waiting_ = waited.error();
}

Status Gpu::Wait() {
  const Current current(*this);
  marked_ = false;  // the mark is before the stream's end, or the stream waits for it
  return CheckWaitResult(WaitUntilDone([this] { return driver_.StreamQuery(stream()); }));
}

Status Gpu::CheckWaitResult(CuResult result) {
  if (result != CuResult::kNotReady) return Check(result, "wait for what was started");
  *hangs_ = true;
  lost_ = MakeError(
      ErrorCode::kDevice,
      "{} hangs{}: not done after {} s (driver of CUDA {}); end this process to free the "
      "GPU, and see nvidia-smi; a larger hang_after allows longer runs",
      Name(facts_), NameLastLaunch(), hang_seconds_, CudaVersionText(driver_.cuda_version));
  return CheckUsable();
}

// Polls, because the driver's own waits have no timeout. At first the loop only yields between
// polls. Later pauses are a small fraction of the elapsed time, so that timings of the run are
// hardly affected.
CuResult Gpu::WaitUntilDone(const std::function<CuResult()>& query) const {
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kImpatient(50e-3);
  constexpr Seconds kLongestPause(10e-3);
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const CuResult result = query();
    if (result != CuResult::kNotReady) return result;
    const Seconds waited = std::chrono::steady_clock::now() - begin;
    if (waited.count() >= hang_seconds_) return result;
    if (waited < kImpatient) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::min(waited / 256, kLongestPause));
    }
  }
}

// Returns the end of a message that names `last_started_`; empty if no launch is recorded. The
// driver reports a fault after the launch, and does not name the kernel.
std::string Gpu::NameLastLaunch() const {
  if (last_started_.empty()) return "";
  return fmt::format(", in {}{}", last_started_,
                     started_several_ ? " or what was started before it" : "");
}

}  // namespace tunec
