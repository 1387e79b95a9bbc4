#include "tools/runs/outside_indices.h"

#include <fmt/format.h>

#include "tools/terminal/report_error.h"

namespace tunec {

void NoteOutsideIndices(const Executable& executable) {
  for (const OutsideIndices& outside : executable.Outside())
    PrintNote(fmt::format("{} {} of gather \"{}\" outside {} to {}; the nearest in range {} taken",
                          outside.count, outside.count == 1 ? "index" : "indices", outside.node,
                          -outside.extent, outside.extent - 1,
                          outside.count == 1 ? "was" : "were"));
}

}  // namespace tunec
