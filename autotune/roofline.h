// The machine's ceilings: what no kernel can exceed. Measured for a target and kept in the
// database as machine facts `peak_flops`, `dram_bytes_per_second` and `ceilings_disturbance`.
#pragma once

#include <optional>

#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

struct Roofline {
  double peak_flops = 0;        // float32 fused multiply-adds, two operations each, all threads
  double bytes_per_second = 0;  // of a copy too large for the caches: read and written, together
  /// The part of the machine that others had while it was measured.
  double disturbance = 0;

  /// Measured while the machine was busy: the true ceilings may be far above.
  bool Provisional() const { return disturbance > kMostDisturbance; }
  static constexpr double kMostDisturbance = 0.05;

  /// The least time of a kernel with this work.
  double SecondsFor(double flops, double bytes) const;
  bool operator==(const Roofline&) const = default;
};

/// Takes about a second. kResourceLimit without memory, kDevice where this machine cannot run the
/// target's vectors.
Result<Roofline> MeasureRoofline(const Target& target);

/// What two measurements together say. Whatever disturbs can only lower a ceiling: the greater
/// holds. It is as sure as its own measurement, or as the surer of two that agree.
Roofline Combine(const Roofline& a, const Roofline& b);

/// The recorded one; none when it was never measured. One without a recorded disturbance is
/// provisional.
Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target);
/// Records what the recorded and this one say together, and returns it.
Result<Roofline> RecordRoofline(Database& database, const Target& target, const Roofline& roofline);

/// The recorded one, else measured and recorded. `database` may be null.
Result<Roofline> EnsureRoofline(Database* database, const Target& target);

}  // namespace tunec
