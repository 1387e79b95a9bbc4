#include "runtime/cuda/gpu.h"

#include <utility>

#include "runtime/cuda/driver_error.h"

namespace tunec {

Gpu::Current::Current(Gpu& gpu)
    : gpu_(gpu), pushed_(gpu.driver_.CtxPushCurrent(gpu.context_) == CuResult::kSuccess) {}

Gpu::Current::~Current() {
  CuContext popped = nullptr;
  if (pushed_) gpu_.driver_.CtxPopCurrent(&popped);
}

Result<std::unique_ptr<Gpu>> Gpu::Open(const CudaDriver& driver, int number) {
  TUNEC_ASSIGN(GpuFacts facts, ReadGpuFacts(driver, number));
  std::unique_ptr<Gpu> gpu(new Gpu(driver, std::move(facts)));
  TUNEC_RETURN_IF_ERROR(gpu->Begin());
  return gpu;
}

Result<std::unique_ptr<Gpu>> Gpu::OpenAgain() const {
  TUNEC_RETURN_IF_ERROR(CheckThere());
  std::unique_ptr<Gpu> gpu(new Gpu(driver_, facts_));
  TUNEC_RETURN_IF_ERROR(gpu->Begin());
  return gpu;
}

Status Gpu::Begin() {
  TUNEC_RETURN_IF_ERROR(Check(driver_.DeviceGet(&device_, facts_.number), "be opened"));
  TUNEC_RETURN_IF_ERROR(
      Check(driver_.DevicePrimaryCtxRetain(&context_, device_), "make a context"));
  const Current current(*this);
  return Check(driver_.StreamCreate(&stream_, kCuStreamNonBlocking), "make a stream");
}

Gpu::~Gpu() {
  if (context_ == nullptr) return;
  if (stream_ != nullptr) {
    const Current current(*this);
    driver_.StreamDestroy(stream_);
  }
  driver_.DevicePrimaryCtxRelease(device_);
}

Status Gpu::CheckThere() const {
  if (lost_) return std::unexpected(*lost_);
  return {};
}

Status Gpu::Check(CuResult result, std::string_view what) {
  if (result == CuResult::kSuccess) return {};
  const std::string text = DescribeCuResult(driver_, result);
  if (LosesDevice(result)) {
    if (!lost_)
      lost_ = MakeError(ErrorCode::kDevice, "{} is lost: {}{}", Name(facts_), text, InWhat());
    return CheckThere();
  }
  const bool memory = result == CuResult::kOutOfMemory;
  return Fail(memory ? ErrorCode::kResourceLimit : ErrorCode::kDevice, "{} cannot {}: {}",
              Name(facts_), what, text);
}

void Gpu::Asked(CuResult result, std::string_view what) {
  if (result == CuResult::kSuccess) return;
  if (const Status status = Check(result, what); !status && !waiting_) waiting_ = status.error();
}

void Gpu::Started(CuResult result, std::string_view symbol) {
  started_several_ = !last_started_.empty();
  last_started_ = symbol;
  if (result != CuResult::kSuccess) Asked(result, fmt::format("start {}", symbol));
}

Status Gpu::Synchronize() {
  TUNEC_RETURN_IF_ERROR(CheckThere());
  const Current current(*this);
  const Status waited = Check(driver_.StreamSynchronize(stream()), "wait for what was started");
  const std::optional<Error> failed = std::exchange(waiting_, std::nullopt);
  last_started_ = {};
  if (failed && !lost_) return std::unexpected(*failed);
  return waited;
}

// A fault is known when something waits for it, and only that a kernel had it, not which.
std::string Gpu::InWhat() const {
  if (last_started_.empty()) return "";
  return fmt::format(", in {}{}", last_started_,
                     started_several_ ? " or what was started before it" : "");
}

}  // namespace tunec
