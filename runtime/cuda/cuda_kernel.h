// Loaded cubins with bound arguments, and a timer of their runs.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/cuda/cuda_code.h"
#include "runtime/device.h"

namespace tunec {

/// A timer of work in the GPU's stream, by the GPU's clock.
class CudaTimer {
 public:
  static Result<std::unique_ptr<CudaTimer>> Make(Gpu& gpu);
  ~CudaTimer();
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

  /// Calls `start` `times` times, waits for the started work, and returns the seconds that this
  /// work took. Errors: those of the GPU.
  Result<double> Seconds(int times, const std::function<void()>& start);

 private:
  explicit CudaTimer(Gpu& gpu) : gpu_(gpu) {}
  Status Begin();
  Status End();
  Result<double> Read();  // requires: a wait for the stream since End

  Gpu& gpu_;
  CuEvent begin_ = nullptr;
  CuEvent end_ = nullptr;
};

/// A loaded cubin bound to arguments: the launches of all its phases and waves. The GPU and the
/// timer must outlive the object. The launches point into the object, so it cannot be moved.
class CudaKernel : public DeviceKernel {
 public:
  CudaKernel(Gpu& gpu, CudaTimer& timer, std::shared_ptr<const CudaCode> code,
             std::vector<void*> arguments, void* workspace);
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  void SetArgument(size_t number, void* address) override { arguments_[number] = address; }
  void Start() override;
  Result<double> Seconds(int times) override;
  void Poison() override;

  /// Returns the address that the next Start passes for the argument.
  void* argument(size_t number) const { return arguments_[number]; }
  /// A launch of one wave of one phase. Waves without blocks are omitted, since the driver would
  /// reject them.
  struct Launch {
    std::string_view symbol;
    CuKernelNodeParams parameters;
  };
  const std::vector<Launch>& launches() const { return launches_; }

 private:
  void AddPhase(const CudaCode::Phase& phase);

  Gpu& gpu_;
  CudaTimer& timer_;
  const std::shared_ptr<const CudaCode> code_;
  std::vector<void*> arguments_;
  void* workspace_;
  std::vector<int64_t> first_blocks_;  // first block of each launch
  std::vector<void*> parameters_;      // addresses of the parameter values of all launches
  std::vector<Launch> launches_;
};

}  // namespace tunec
