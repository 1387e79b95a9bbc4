// What the code of an emulated kernel knows of the thread that runs it.
#pragma once

#include <array>
#include <cstdint>

namespace tunec {

/// Whether each access of an emulated kernel is checked.
enum class EmulationMode : uint8_t { kPlain, kChecked };

class CheckedBlock;
class WarpOperation;

/// What an access is for, in checked mode; a constant of generated code. Null: not known.
struct AccessName {
  const char* statement = nullptr;
  const char* tensor = nullptr;
};

/// Generated code reads it (host_module.cc), so its layout is an agreement.
struct EmulatedThread {
  std::array<int32_t, 3> number = {};  // along x, y, z
  int32_t block = 0;                   // along x
  void* shared = nullptr;              // the block's shared memory
  /// Comes back when all threads of the block have called it. `site` tells barriers of the code
  /// from each other.
  void (*barrier)(EmulatedThread* self, int32_t site) = nullptr;
  int32_t order = 0;               // of the block's threads, x fastest
  CheckedBlock* checks = nullptr;  // of the block, where accesses are checked
  /// Comes back when all lanes of the warp have called it, and the operation, equal in all of them,
  /// was done with what they brought. `site` tells such calls of the code from each other.
  void (*meet)(EmulatedThread* self, int32_t site, const WarpOperation& operation,
               uint32_t* registers) = nullptr;
};

/// Of one launch; a constant of generated code.
struct EmulatedLaunch {
  std::array<int64_t, 3> block = {1, 1, 1};  // threads along x, y, z
  int64_t blocks = 1;                        // that may run side by side: those of one wave
  int64_t shared_bytes = 0;
  int64_t checked = 0;  // whether generated code tells each access
  const char* symbol = nullptr;
};

/// What one thread of a block does: arguments, workspace, the thread, the first task of the launch.
using EmulatedFunction = void (*)(void* const* arguments, void* workspace, EmulatedThread* thread,
                                  int64_t first);

}  // namespace tunec
