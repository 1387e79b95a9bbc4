// The machine's ceilings: what no kernel can exceed. Measured once for a target and kept in the
// database as machine facts `peak_flops` and `dram_bytes_per_second`.
#pragma once

#include <optional>

#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

struct Roofline {
  double peak_flops = 0;        // float32 fused multiply-adds, two operations each, all threads
  double bytes_per_second = 0;  // of a copy too large for the caches: read and written, together

  /// The least time of a kernel with this work.
  double SecondsFor(double flops, double bytes) const;
};

/// Takes about a second. kResourceLimit without memory, kDevice where this machine cannot run the
/// target's vectors.
Result<Roofline> MeasureRoofline(const Target& target);

/// The recorded one; none when it was never measured.
Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target);
Status RecordRoofline(Database& database, const Target& target, const Roofline& roofline);

/// The recorded one, else measured and recorded. `database` may be null.
Result<Roofline> EnsureRoofline(Database* database, const Target& target);

}  // namespace tunec
