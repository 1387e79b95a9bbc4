#include "runtime/cuda/cuda_kernel.h"

#include <utility>

namespace tunec {
namespace {

int64_t CountLaunches(const CudaCode& code) {
  int64_t count = 0;
  for (const CudaCode::Phase& phase : code.phases()) count += phase.launch.waves;
  return count;
}

}  // namespace

CudaKernel::CudaKernel(Gpu& gpu, CudaTimer& timer, std::shared_ptr<const CudaCode> code,
                       std::vector<void*> arguments, void* workspace)
    : gpu_(gpu),
      timer_(timer),
      code_(std::move(code)),
      arguments_(std::move(arguments)),
      workspace_(workspace) {
  // Launches point into parameters_, which points into first_blocks_. Neither may be reallocated.
  const auto most = static_cast<size_t>(CountLaunches(*code_));
  first_blocks_.reserve(most);
  parameters_.reserve(most * (arguments_.size() + 2));
  launches_.reserve(most);
  for (const CudaCode::Phase& phase : code_->phases()) AddPhase(phase);
}

void CudaKernel::AddPhase(const CudaCode::Phase& phase) {
  const PhaseLaunch& launch = phase.launch;
  const int64_t blocks = launch.Blocks() / launch.waves;
  if (blocks == 0) return;
  for (int64_t first = 0; first < launch.Blocks(); first += blocks) {
    const size_t begin = parameters_.size();
    for (void*& argument : arguments_) parameters_.push_back(&argument);
    parameters_.push_back(&workspace_);
    parameters_.push_back(&first_blocks_.emplace_back(first));
    launches_.push_back({.symbol = launch.symbol,
                         .parameters = {.function = phase.function,
                                        .grid_x = static_cast<unsigned>(blocks),
                                        .block_x = static_cast<unsigned>(launch.block[0]),
                                        .block_y = static_cast<unsigned>(launch.block[1]),
                                        .block_z = static_cast<unsigned>(launch.block[2]),
                                        .shared_bytes = static_cast<unsigned>(launch.shared_bytes),
                                        .parameters = parameters_.data() + begin}});
  }
}

void CudaKernel::Start() {
  if (gpu_.Failed()) return;
  const Gpu::Current current(gpu_);
  for (const Launch& launch : launches_) {
    if (gpu_.Failed()) return;
    const CuKernelNodeParams& with = launch.parameters;
    // The driver copies the parameters before it returns.
    gpu_.RecordLaunch(
        gpu_.driver().LaunchKernel(with.function, with.grid_x, with.grid_y, with.grid_z,
                                   with.block_x, with.block_y, with.block_z, with.shared_bytes,
                                   gpu_.stream(), with.parameters, nullptr),
        launch.symbol);
  }
}

Result<double> CudaKernel::Seconds(int times) {
  return timer_.Seconds(times, [this] { Start(); });
}

void CudaKernel::Poison() {
  if (gpu_.Failed() || workspace_ == nullptr) return;
  constexpr unsigned char kNanByte = 0xff;
  const Gpu::Current current(gpu_);
  const auto bytes = static_cast<size_t>(code_->workspace_bytes());
  gpu_.RecordLaunch(gpu_.driver().MemsetD8Async(reinterpret_cast<CuDevicePtr>(workspace_), kNanByte,
                                                bytes, gpu_.stream()),
                    "the workspace's poison");
}

Result<std::unique_ptr<CudaTimer>> CudaTimer::Make(Gpu& gpu) {
  std::unique_ptr<CudaTimer> timer(new CudaTimer(gpu));
  const Gpu::Current current(gpu);
  for (CuEvent* event : {&timer->begin_, &timer->end_}) {
    TUNEC_RETURN_IF_ERROR(gpu.Check(gpu.driver().EventCreate(event, /*flags=*/0), "make a timer"));
  }
  return timer;
}

CudaTimer::~CudaTimer() {
  if (gpu_.Hangs()) return;
  const Gpu::Current current(gpu_);
  for (const CuEvent event : {begin_, end_})
    if (event != nullptr) gpu_.driver().EventDestroy(event);
}

Result<double> CudaTimer::Seconds(int times, const std::function<void()>& start) {
  TUNEC_RETURN_IF_ERROR(Begin());
  for (int i = 0; i < times; ++i) start();
  const Status ended = End();
  TUNEC_RETURN_IF_ERROR(gpu_.Synchronize());
  TUNEC_RETURN_IF_ERROR(ended);
  return Read();
}

Status CudaTimer::Begin() {
  TUNEC_RETURN_IF_ERROR(gpu_.CheckUsable());
  const Gpu::Current current(gpu_);
  return gpu_.Check(gpu_.driver().EventRecord(begin_, gpu_.stream()), "begin to time");
}

Status CudaTimer::End() {
  TUNEC_RETURN_IF_ERROR(gpu_.CheckUsable());
  const Gpu::Current current(gpu_);
  return gpu_.Check(gpu_.driver().EventRecord(end_, gpu_.stream()), "end to time");
}

Result<double> CudaTimer::Read() {
  const Gpu::Current current(gpu_);
  float milliseconds = 0;
  TUNEC_RETURN_IF_ERROR(
      gpu_.Check(gpu_.driver().EventElapsedTime(&milliseconds, begin_, end_), "read its clock"));
  return 1e-3 * milliseconds;
}

}  // namespace tunec
