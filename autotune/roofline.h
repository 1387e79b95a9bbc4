// The machine's ceilings: what no kernel can exceed. Measured for a target and kept in the
// database as machine facts `peak_flops`, `l1_bytes_per_second` (and so on for l2, l3, dram) and
// `ceilings_disturbance`.
//
// A kernel that runs again and again finds in each cache as much of its data as fits. So the least
// time for its traffic takes the first bytes from the first level, what does not fit there from the
// second, and the rest at last from memory.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// What limits a kernel at best.
enum class Ceiling : uint8_t { kArithmetic, kL1, kL2, kL3, kMemory };
/// "arithmetic", "L1", ..., "memory".
std::string_view Name(Ceiling ceiling);

/// One level of caches, those of all threads taken together.
struct CacheCeiling {
  double bytes = 0;             // that it holds
  double bytes_per_second = 0;  // the greater of reading and of copying; 0: never measured
  bool operator==(const CacheCeiling&) const = default;
};

/// The least time, and what it is that takes it.
struct RooflineBound {
  double seconds = 0;
  Ceiling by = Ceiling::kArithmetic;
};

struct Roofline {
  double peak_flops = 0;        // float32 fused multiply-adds, two operations each, all threads
  double bytes_per_second = 0;  // of a copy too large for the caches: read and written, together
  /// The part of the machine that others had while it was measured.
  double disturbance = 0;
  std::array<CacheCeiling, 3> caches = {};  // L1, L2, L3

  /// Measured while the machine was busy: the true ceilings may be far above.
  bool Provisional() const { return disturbance > kMostDisturbance; }
  static constexpr double kMostDisturbance = 0.05;
  /// Whether a share of it says something: it is not provisional, and the caches were measured,
  /// which earlier versions did not do.
  bool Sure() const { return !Provisional() && caches[0].bytes_per_second > 0; }

  /// The least time of a kernel with this work.
  RooflineBound BoundFor(double flops, double bytes) const;
  bool operator==(const Roofline&) const = default;
};

/// What the caches of the target's threads hold; no rates. Nothing of a device.
std::array<CacheCeiling, 3> CachesOf(const Target& target);

/// Takes about a second. kResourceLimit without memory, kDevice where this machine cannot run the
/// target's vectors, kUnsupported for a device.
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
