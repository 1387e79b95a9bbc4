// Data that the code of an emulated kernel and the emulation share, such as the state of a thread.
#pragma once

#include <array>
#include <cstdint>

namespace tunec {

/// The mode of the emulation. In mode kChecked, accesses to shared and global memory are checked.
enum class EmulationMode : uint8_t { kPlain, kChecked };

class CheckedBlock;
class WarpOperation;

/// The names of an access's statement and tensor. A name is null if it is unknown. In checked mode,
/// generated code has constants of this type.
struct AccessName {
  const char* statement = nullptr;
  const char* tensor = nullptr;
};

/// The state of a thread. Generated code reads it (host_module.cc), so its layout is fixed.
struct EmulatedThread {
  std::array<int32_t, 3> number = {};  // along x, y, z
  int32_t block = 0;                   // along x
  void* shared = nullptr;              // shared memory of the block
  /// Waits at a barrier; returns when all threads of the block have called it. `site` identifies
  /// the barrier in the code.
  void (*barrier)(EmulatedThread* self, int32_t site) = nullptr;
  int32_t order = 0;               // number among the block's threads, x fastest
  CheckedBlock* checks = nullptr;  // checker of the block in checked mode, else null
  /// Executes a warp operation; returns when all lanes of the warp have called it. The operation
  /// must be equal in all lanes. `site` identifies the call in the code. `registers` holds the
  /// inputs of the lane and receives its results.
  void (*meet)(EmulatedThread* self, int32_t site, const WarpOperation& operation,
               uint32_t* registers) = nullptr;
};

/// The properties of one launch, a constant in generated code.
struct EmulatedLaunch {
  std::array<int64_t, 3> block = {1, 1, 1};  // threads along x, y, z
  int64_t blocks = 1;                        // blocks that may run in parallel: those of one wave
  int64_t shared_bytes = 0;
  int64_t checked = 0;  // nonzero: generated code reports each access
  const char* symbol = nullptr;
};

/// The function that executes a kernel's code for one thread. `arguments` are pointers to the
/// tensors. The executed task is `first` plus the number of the thread's block.
using EmulatedFunction = void (*)(void* const* arguments, void* workspace, EmulatedThread* thread,
                                  int64_t first);

}  // namespace tunec
