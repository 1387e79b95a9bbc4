// NVIDIA's driver as a table of functions. tunec has separate declarations, so that building does
// not require a CUDA header. Source: "CUDA Driver API Reference Manual".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tunec {

/// CUresult: 0, or an error. Only some errors have a name here; GetErrorName supports all errors.
enum class CuResult : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kNvlinkUncorrectable = 220,
  kUnsupportedPtxVersion = 222,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kUnknown = 999,
};

/// The values of CUdevice_attribute that tunec reads.
enum class CuDeviceAttribute : int {
  kProcessors = 16,
  kL2Bytes = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kProcessorSharedBytes = 81,
  kBlockSharedBytes = 97,  // maximum that a block may opt in to
};

/// The values of CUfunction_attribute that tunec sets.
enum class CuFunctionAttribute : int { kMostDynamicSharedBytes = 8 };

/// CU_EVENT_DISABLE_TIMING: the event records no time.
inline constexpr unsigned kCuEventDisableTiming = 2;

/// CU_STREAM_NON_BLOCKING: the stream does not wait for the default stream.
inline constexpr unsigned kCuStreamNonBlocking = 1;

using CuDevice = int;
using CuDevicePtr = unsigned long long;
using CuContext = struct CuContextTag*;
using CuModule = struct CuModuleTag*;
using CuFunction = struct CuFunctionTag*;
using CuStream = struct CuStreamTag*;
using CuEvent = struct CuEventTag*;
using CuGraph = struct CuGraphTag*;
using CuGraphNode = struct CuGraphNodeTag*;
using CuGraphExec = struct CuGraphExecTag*;
using CuUuid = std::array<unsigned char, 16>;

/// CUDA_KERNEL_NODE_PARAMS_v2. The driver copies the data that the parameters point to.
struct CuKernelNodeParams {
  CuFunction function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;       // a CUkernel, if `function` is null
  CuContext context = nullptr;  // null: the current context
};
static_assert(sizeof(CuKernelNodeParams) == 72);

/// CUmemorytype of one side of a copy.
enum class CuMemoryType : unsigned { kHost = 1, kDevice = 2 };

/// One side of CUDA_MEMCPY2D. The type selects one of the two addresses.
struct CuCopyEnd {
  size_t begin_bytes = 0;
  size_t begin_rows = 0;
  CuMemoryType type = CuMemoryType::kDevice;
  const void* on_host = nullptr;
  CuDevicePtr on_device = 0;
  void* array = nullptr;
  size_t pitch = 0;
};

/// CUDA_MEMCPY2D_v2: a copy of rows of bytes.
struct CuCopyRows {
  CuCopyEnd from;
  CuCopyEnd to;
  size_t row_bytes = 0;
  size_t rows = 0;
};
static_assert(sizeof(CuCopyRows) == 128);

/// Expands to F(name, parameters...) for each function. The name is the driver's name without "cu";
/// every function returns CuResult. The versions are those of CUDA 12.0 (cuMemAlloc_v2, ...), which
/// cuGetProcAddress finds by these names.
#define TUNEC_CUDA_FUNCTIONS(F)                                                                   \
  F(GetErrorName, CuResult error, const char** name)                                              \
  F(GetErrorString, CuResult error, const char** text)                                            \
  F(DeviceGetCount, int* count)                                                                   \
  F(DeviceGet, CuDevice* device, int number)                                                      \
  F(DeviceGetName, char* name, int size, CuDevice device)                                         \
  F(DeviceGetUuid, CuUuid* uuid, CuDevice device)                                                 \
  F(DeviceGetAttribute, int* value, CuDeviceAttribute attribute, CuDevice device)                 \
  F(DeviceTotalMem, size_t* bytes, CuDevice device)                                               \
  F(DevicePrimaryCtxRetain, CuContext* context, CuDevice device)                                  \
  F(DevicePrimaryCtxRelease, CuDevice device)                                                     \
  F(CtxPushCurrent, CuContext context)                                                            \
  F(CtxPopCurrent, CuContext* context)                                                            \
  F(MemGetInfo, size_t* free, size_t* total)                                                      \
  F(MemAlloc, CuDevicePtr* address, size_t bytes)                                                 \
  F(MemFree, CuDevicePtr address)                                                                 \
  F(MemcpyHtoDAsync, CuDevicePtr to, const void* from, size_t bytes, CuStream stream)             \
  F(MemcpyDtoHAsync, void* to, CuDevicePtr from, size_t bytes, CuStream stream)                   \
  F(MemcpyDtoDAsync, CuDevicePtr to, CuDevicePtr from, size_t bytes, CuStream stream)             \
  F(Memcpy2DAsync, const CuCopyRows* copy, CuStream stream)                                       \
  F(MemsetD8Async, CuDevicePtr to, unsigned char value, size_t bytes, CuStream stream)            \
  F(ModuleLoadDataEx, CuModule* module, const void* image, unsigned options, int* names,          \
    void** values)                                                                                \
  F(ModuleUnload, CuModule module)                                                                \
  F(ModuleGetFunction, CuFunction* function, CuModule module, const char* symbol)                 \
  F(FuncSetAttribute, CuFunction function, CuFunctionAttribute attribute, int value)              \
  F(LaunchKernel, CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,         \
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream, \
    void** parameters, void** extra)                                                              \
  F(StreamCreate, CuStream* stream, unsigned flags)                                               \
  F(StreamDestroy, CuStream stream)                                                               \
  F(StreamQuery, CuStream stream)                                                                 \
  F(StreamWaitEvent, CuStream stream, CuEvent event, unsigned flags)                              \
  F(GraphCreate, CuGraph* graph, unsigned flags)                                                  \
  F(GraphDestroy, CuGraph graph)                                                                  \
  F(GraphAddKernelNode, CuGraphNode* node, CuGraph graph, const CuGraphNode* dependencies,        \
    size_t count, const CuKernelNodeParams* parameters)                                           \
  F(GraphInstantiateWithFlags, CuGraphExec* exec, CuGraph graph, unsigned long long flags)        \
  F(GraphExecKernelNodeSetParams, CuGraphExec exec, CuGraphNode node,                             \
    const CuKernelNodeParams* parameters)                                                         \
  F(GraphLaunch, CuGraphExec exec, CuStream stream)                                               \
  F(GraphExecDestroy, CuGraphExec exec)                                                           \
  F(EventCreate, CuEvent* event, unsigned flags)                                                  \
  F(EventDestroy, CuEvent event)                                                                  \
  F(EventQuery, CuEvent event)                                                                    \
  F(EventRecord, CuEvent event, CuStream stream)                                                  \
  F(EventElapsedTime, float* milliseconds, CuEvent begin, CuEvent end)

/// The functions of a loaded driver. They may be called from several threads. Functions that need a
/// context use the one that the calling thread has pushed.
struct CudaDriver {
  int cuda_version = 0;  // newest supported CUDA version: 1000 * major + 10 * minor
#define TUNEC_DECLARE(name, ...) CuResult (*name)(__VA_ARGS__) = nullptr;
  TUNEC_CUDA_FUNCTIONS(TUNEC_DECLARE)
#undef TUNEC_DECLARE
};

}  // namespace tunec
