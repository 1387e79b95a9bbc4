#include "tools/runs/outside_indices.h"

#include <fmt/format.h>

#include <cstdio>

namespace tunec {

void NoteOutsideIndices(const Executable& executable) {
  for (const OutsideIndices& outside : executable.Outside())
    fmt::print(stderr,
               "note: {} {} of gather \"{}\" outside {} to {}; the nearest in range {} taken\n",
               outside.count, outside.count == 1 ? "index" : "indices", outside.node,
               -outside.extent, outside.extent - 1, outside.count == 1 ? "was" : "were");
}

}  // namespace tunec
