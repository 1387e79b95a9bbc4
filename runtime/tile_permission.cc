#include "runtime/tile_permission.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace tunec {

bool RequestTileData() {
  constexpr int kArchReqXcompPerm = 0x1023;
  constexpr int kXfeatureXtileData = 18;
  static const bool granted = syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureXtileData) == 0;
  return granted;
}

}  // namespace tunec
