// A loaded cubin on arguments, and many of them as one graph.
#pragma once

#include <memory>
#include <string_view>
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

/// The launches of one kernel. The GPU and the timer outlive it; it stays where it is, since the
/// launches' parameters point into it.
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

  /// Where the argument lies.
  void* argument(size_t number) const { return arguments_[number]; }
  /// One wave of one phase. Those without blocks, which the driver would refuse, are left out.
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
  std::vector<int64_t> first_blocks_;  // of each launch
  std::vector<void*> parameters_;      // of all launches: where their values lie
  std::vector<Launch> launches_;
};

}  // namespace tunec
