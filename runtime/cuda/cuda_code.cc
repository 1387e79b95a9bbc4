#include "runtime/cuda/cuda_code.h"

#include "runtime/cuda/cubin.h"
#include "runtime/cuda/driver_error.h"
#include "runtime/cuda/load_driver.h"

namespace tunec {
namespace {

// Shared memory that a block may have without opting in to more, in bytes.
constexpr int64_t kUsualSharedBytes = 48 << 10;

// Returns the error for a cubin that this GPU or its driver cannot load.
std::unexpected<Error> Unfit(const Gpu& gpu, CuResult result) {
  return Fail(ErrorCode::kDevice,
              "{} cannot load the kernel: {}; its compute capability is {}.{} and its driver "
              "supports CUDA {}: compile for that arch, with a ptxas that is not newer",
              Name(gpu.facts()), DescribeCuResult(gpu.driver(), result),
              gpu.facts().capability_major, gpu.facts().capability_minor,
              CudaVersionText(gpu.driver().cuda_version));
}

}  // namespace

Result<std::shared_ptr<const CudaCode>> CudaCode::Load(Gpu& gpu, const KernelImage& image) {
  if (image.format != kCubinFormat) {
    return Fail(ErrorCode::kParse, "{} cannot run code of format '{}', expected '{}'",
                Name(gpu.facts()), image.format, kCubinFormat);
  }
  TUNEC_RETURN_IF_ERROR(CheckCubin(image.bytes));
  TUNEC_RETURN_IF_ERROR(gpu.CheckUsable());
  const Gpu::Current current(gpu);
  std::shared_ptr<CudaCode> code(new CudaCode(gpu));
  TUNEC_RETURN_IF_ERROR(code->LoadModule(image));
  for (const PhaseLaunch& launch : image.phases) TUNEC_RETURN_IF_ERROR(code->AddPhase(launch));
  code->workspace_bytes_ = image.workspace_bytes;
  return code;
}

CudaCode::~CudaCode() {
  if (module_ == nullptr || gpu_.Hangs()) return;
  const Gpu::Current current(gpu_);
  gpu_.driver().ModuleUnload(module_);
}

Status CudaCode::LoadModule(const KernelImage& image) {
  const CuResult result = gpu_.driver().ModuleLoadDataEx(&module_, image.bytes.data(),
                                                         /*options=*/0, nullptr, nullptr);
  switch (result) {
    case CuResult::kInvalidImage:
    case CuResult::kNoBinaryForGpu:
    case CuResult::kUnsupportedPtxVersion:
      return Unfit(gpu_, result);
    default:
      return gpu_.Check(result, "load the kernel");
  }
}

Status CudaCode::AddPhase(const PhaseLaunch& launch) {
  CuFunction function = nullptr;
  const CuResult found = gpu_.driver().ModuleGetFunction(&function, module_, launch.symbol.c_str());
  if (found == CuResult::kNotFound) {
    return Fail(ErrorCode::kNotFound, "the kernel has no function {}", launch.symbol);
  }
  TUNEC_RETURN_IF_ERROR(gpu_.Check(found, fmt::format("find {}", launch.symbol)));
  if (launch.shared_bytes > gpu_.facts().block_shared_bytes) {
    return Fail(ErrorCode::kResourceLimit, "{} shares {} bytes in a block, {} has {}",
                launch.symbol, launch.shared_bytes, Name(gpu_.facts()),
                gpu_.facts().block_shared_bytes);
  }
  if (launch.shared_bytes > kUsualSharedBytes) {
    const auto bytes = static_cast<int>(launch.shared_bytes);
    TUNEC_RETURN_IF_ERROR(gpu_.Check(
        gpu_.driver().FuncSetAttribute(function, CuFunctionAttribute::kMostDynamicSharedBytes,
                                       bytes),
        fmt::format("give {} the {} bytes that it shares in a block", launch.symbol, bytes)));
  }
  phases_.push_back({launch, function});
  return {};
}

}  // namespace tunec
