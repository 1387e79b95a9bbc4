// What the code of an emulated kernel knows of the thread that runs it.
#pragma once

#include <array>
#include <cstdint>

namespace tunec {

/// Generated code reads it (host_module.cc), so its layout is an agreement.
struct EmulatedThread {
  std::array<int32_t, 3> number = {};  // along x, y, z
  int32_t block = 0;                   // along x
  void* shared = nullptr;              // the block's shared memory
  /// Comes back when all threads of the block have called it. `site` tells barriers of the code
  /// from each other.
  void (*barrier)(EmulatedThread* self, int32_t site) = nullptr;
};

}  // namespace tunec
