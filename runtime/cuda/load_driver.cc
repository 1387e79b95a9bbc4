#include "runtime/cuda/load_driver.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <type_traits>

namespace tunec {
namespace {

std::string LibraryOfThisMachine() {
  const char* const named = std::getenv("TUNEC_LIBCUDA");
  return named != nullptr && *named != '\0' ? named : "libcuda.so.1";
}

using Init = CuResult (*)(unsigned flags);
using DriverGetVersion = CuResult (*)(int* version);
using GetProcAddress = CuResult (*)(const char* name, void** function, int version, uint64_t flags,
                                    int* status);

Result<void*> Open(const std::string& library) {
  // The library is never closed, because threads of the driver may still execute its code.
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  return Fail(ErrorCode::kDevice,
              "no NVIDIA driver: {}; install one for CUDA {} or later, or name its library with "
              "TUNEC_LIBCUDA",
              dlerror(), CudaVersionText(kOldestCuda));
}

std::unexpected<Error> Lacks(const std::string& library, const std::string& function, int version) {
  return Fail(ErrorCode::kDevice, "the NVIDIA driver in {}, of CUDA {}, has no {}: install another",
              library, CudaVersionText(version), function);
}

// Returns the function that the library exports under this name. Fails with kDevice if there is
// none. `version` is the driver's CUDA version for the message; 0: not known yet.
template <class Function>
Result<Function> Exported(void* handle, const std::string& library, const char* name,
                          int version = 0) {
  if (void* const address = dlsym(handle, name)) return reinterpret_cast<Function>(address);
  if (version > 0) return Lacks(library, name, version);
  return Fail(ErrorCode::kDevice, "{} is not an NVIDIA driver: it has no {}", library, name);
}

// Checks the result of cuDriverGetVersion or cuInit. Other functions of the driver, such as
// cuGetErrorName, are not loaded yet.
Status CheckStart(CuResult result, const std::string& library) {
  switch (result) {
    case CuResult::kSuccess:
      return {};
    case CuResult::kStubLibrary:
      return Fail(
          ErrorCode::kDevice,
          "{} is the CUDA toolkit's stub for linking, not a driver (error 34); install a driver, "
          "or remove the stub from LD_LIBRARY_PATH",
          library);
    case CuResult::kNoDevice:
      return Fail(ErrorCode::kDevice,
                  "the NVIDIA driver finds no GPU (error 100): see nvidia-smi and "
                  "CUDA_VISIBLE_DEVICES");
    default:
      return Fail(ErrorCode::kDevice,
                  "the NVIDIA driver in {} does not start (error {}): see nvidia-smi, and whether "
                  "the library fits the kernel's module",
                  library, static_cast<int>(result));
  }
}

Result<int> FindVersion(void* handle, const std::string& library) {
  TUNEC_ASSIGN(const auto get_version,
               Exported<DriverGetVersion>(handle, library, "cuDriverGetVersion"));
  int version = 0;
  TUNEC_RETURN_IF_ERROR(CheckStart(get_version(&version), library));
  if (version >= kOldestCuda) return version;
  return Fail(ErrorCode::kDevice,
              "the NVIDIA driver is too old: it supports CUDA {}, tunec needs {}; install a newer "
              "one",
              CudaVersionText(version), CudaVersionText(kOldestCuda));
}

}  // namespace

std::string CudaVersionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<CudaDriver> LoadCudaDriver(const std::string& library) {
  TUNEC_ASSIGN(void* const handle, Open(library));
  CudaDriver driver;
  TUNEC_ASSIGN(driver.cuda_version, FindVersion(handle, library));
  TUNEC_ASSIGN(const auto init, Exported<Init>(handle, library, "cuInit"));
  TUNEC_RETURN_IF_ERROR(CheckStart(init(0), library));
  TUNEC_ASSIGN(const auto find, Exported<GetProcAddress>(handle, library, "cuGetProcAddress_v2",
                                                         driver.cuda_version));
  const auto resolve = [&](const char* name, auto& function) -> Status {
    void* address = nullptr;
    const CuResult found = find(name, &address, kOldestCuda, /*flags=*/0, nullptr);
    if (found != CuResult::kSuccess || address == nullptr) {
      return Lacks(library, name, driver.cuda_version);
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    return {};
  };
#define TUNEC_RESOLVE(name, ...) TUNEC_RETURN_IF_ERROR(resolve("cu" #name, driver.name));
  TUNEC_CUDA_FUNCTIONS(TUNEC_RESOLVE)
#undef TUNEC_RESOLVE
  return driver;
}

Result<std::string> FindCudaLibrary() {
  std::string library = LibraryOfThisMachine();
  TUNEC_ASSIGN(void* const handle, Open(library));
  const link_map* loaded = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&loaded)) != 0) return library;
  std::error_code problem;
  const auto path = std::filesystem::canonical(loaded->l_name, problem);
  return problem ? library : path.string();
}

Result<CudaDriver> LoadCudaDriver() { return LoadCudaDriver(LibraryOfThisMachine()); }

}  // namespace tunec
