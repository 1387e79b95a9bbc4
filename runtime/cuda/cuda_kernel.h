// A loaded cubin on fixed arguments.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/cuda_code.h"
#include "runtime/device.h"

namespace tunec {

/// Times what is put into a stream between Begin and End.
class CudaTimer {
 public:
  static Result<std::unique_ptr<CudaTimer>> Make(Gpu& gpu);
  ~CudaTimer();
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

  Status Begin();
  Status End();
  /// Requires: the stream was waited for since End.
  Result<double> Seconds();

 private:
  explicit CudaTimer(Gpu& gpu) : gpu_(gpu) {}

  Gpu& gpu_;
  CuEvent begin_ = nullptr;
  CuEvent end_ = nullptr;
};

/// The GPU and the timer outlive it.
std::unique_ptr<DeviceKernel> BindCudaKernel(Gpu& gpu, CudaTimer& timer,
                                             std::shared_ptr<const CudaCode> code,
                                             std::vector<void*> arguments, void* workspace);

}  // namespace tunec
