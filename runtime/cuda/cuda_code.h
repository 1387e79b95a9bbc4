// Cubins in the memory of a GPU.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/gpu.h"
#include "runtime/device.h"

namespace tunec {

/// A loaded module with a function for each phase. The GPU must outlive the module.
class CudaCode : public DeviceCode {
 public:
  /// Loads an image. Errors: as Device::Load; kResourceLimit also for too much shared memory;
  /// kDevice for errors of the driver, such as code that is not for this GPU.
  static Result<std::shared_ptr<const CudaCode>> Load(Gpu& gpu, const KernelImage& image);
  ~CudaCode() override;
  CudaCode(const CudaCode&) = delete;
  CudaCode& operator=(const CudaCode&) = delete;

  struct Phase {
    PhaseLaunch launch;
    CuFunction function = nullptr;
  };
  const std::vector<Phase>& phases() const { return phases_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }
  const Gpu& gpu() const { return gpu_; }

 private:
  explicit CudaCode(Gpu& gpu) : gpu_(gpu) {}
  Status LoadModule(const KernelImage& image);
  Status AddPhase(const PhaseLaunch& launch);

  Gpu& gpu_;
  CuModule module_ = nullptr;
  std::vector<Phase> phases_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace tunec
