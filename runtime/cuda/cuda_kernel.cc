#include "runtime/cuda/cuda_kernel.h"

#include <utility>

namespace tunec {
namespace {

class CudaKernel : public DeviceKernel {
 public:
  CudaKernel(Gpu& gpu, CudaTimer& timer, std::shared_ptr<const CudaCode> code,
             std::vector<void*> arguments, void* workspace)
      : gpu_(gpu),
        timer_(timer),
        code_(std::move(code)),
        arguments_(std::move(arguments)),
        workspace_(workspace) {
    parameters_.reserve(arguments_.size() + 2);
    for (void*& argument : arguments_) parameters_.push_back(&argument);
    parameters_.push_back(&workspace_);
    parameters_.push_back(&first_);
  }

  void Start() override {
    if (gpu_.Failed()) return;
    const Gpu::Current current(gpu_);
    for (const CudaCode::Phase& phase : code_->phases()) StartPhase(phase);
  }

  Result<double> Seconds(int times) override {
    TUNEC_RETURN_IF_ERROR(timer_.Begin());
    for (int i = 0; i < times; ++i) Start();
    const Status ended = timer_.End();
    TUNEC_RETURN_IF_ERROR(gpu_.Synchronize());
    TUNEC_RETURN_IF_ERROR(ended);
    return timer_.Seconds();
  }

  void Poison() override {
    if (gpu_.Failed() || workspace_ == nullptr) return;
    constexpr unsigned char kNanByte = 0xff;
    const Gpu::Current current(gpu_);
    const auto bytes = static_cast<size_t>(code_->workspace_bytes());
    gpu_.Started(gpu_.driver().MemsetD8Async(reinterpret_cast<CuDevicePtr>(workspace_), kNanByte,
                                             bytes, gpu_.stream()),
                 "the workspace's poison");
  }

 private:
  void StartPhase(const CudaCode::Phase& phase) {
    const PhaseLaunch& launch = phase.launch;
    const int64_t blocks = launch.Blocks() / launch.waves;
    if (blocks == 0) return;  // which the driver would refuse
    for (first_ = 0; first_ < launch.Blocks() && !gpu_.Failed(); first_ += blocks) {
      gpu_.Started(Launch(phase.function, launch, static_cast<unsigned>(blocks)), launch.symbol);
    }
  }

  // The driver copies the parameters before it returns.
  CuResult Launch(CuFunction function, const PhaseLaunch& launch, unsigned blocks) {
    return gpu_.driver().LaunchKernel(
        function, blocks, 1, 1, static_cast<unsigned>(launch.block[0]),
        static_cast<unsigned>(launch.block[1]), static_cast<unsigned>(launch.block[2]),
        static_cast<unsigned>(launch.shared_bytes), gpu_.stream(), parameters_.data(), nullptr);
  }

  Gpu& gpu_;
  CudaTimer& timer_;
  const std::shared_ptr<const CudaCode> code_;
  std::vector<void*> arguments_;
  void* workspace_;
  int64_t first_ = 0;              // block of the wave that is started
  std::vector<void*> parameters_;  // where the values above lie
};

}  // namespace

Result<std::unique_ptr<CudaTimer>> CudaTimer::Make(Gpu& gpu) {
  std::unique_ptr<CudaTimer> timer(new CudaTimer(gpu));
  const Gpu::Current current(gpu);
  for (CuEvent* event : {&timer->begin_, &timer->end_}) {
    TUNEC_RETURN_IF_ERROR(gpu.Check(gpu.driver().EventCreate(event, /*flags=*/0), "make a timer"));
  }
  return timer;
}

CudaTimer::~CudaTimer() {
  const Gpu::Current current(gpu_);
  for (const CuEvent event : {begin_, end_})
    if (event != nullptr) gpu_.driver().EventDestroy(event);
}

Status CudaTimer::Begin() {
  TUNEC_RETURN_IF_ERROR(gpu_.CheckThere());
  const Gpu::Current current(gpu_);
  return gpu_.Check(gpu_.driver().EventRecord(begin_, gpu_.stream()), "begin to time");
}

Status CudaTimer::End() {
  TUNEC_RETURN_IF_ERROR(gpu_.CheckThere());
  const Gpu::Current current(gpu_);
  return gpu_.Check(gpu_.driver().EventRecord(end_, gpu_.stream()), "end to time");
}

Result<double> CudaTimer::Seconds() {
  const Gpu::Current current(gpu_);
  float milliseconds = 0;
  TUNEC_RETURN_IF_ERROR(
      gpu_.Check(gpu_.driver().EventElapsedTime(&milliseconds, begin_, end_), "read its clock"));
  return 1e-3 * milliseconds;
}

std::unique_ptr<DeviceKernel> BindCudaKernel(Gpu& gpu, CudaTimer& timer,
                                             std::shared_ptr<const CudaCode> code,
                                             std::vector<void*> arguments, void* workspace) {
  return std::make_unique<CudaKernel>(gpu, timer, std::move(code), std::move(arguments), workspace);
}

}  // namespace tunec
