// The machine's ceilings: the measured maximum rates of its arithmetic, caches and memory. The
// database stores the ceilings of a target as machine facts: `peak_flops`, `l1_bytes_per_second`
// (also for l2, l3, dram). The fact `ceilings_disturbance` is the disturbance of float32.
//
// Each multiply-add instruction, called an arithmetic (mac_instruction.h), has a separate ceiling.
// The ceiling of float32 is part of every roofline. The others are measured on demand, and stored
// as `peak_flops.NAME` and `ceilings_disturbance.NAME`.
//
// A kernel that runs repeatedly finds in each cache as much of its data as fits. In the least time
// of its traffic, the first bytes, as many as L1 holds, count at the rate of L1. The following
// bytes, up to the capacity of the next level, count at the rate of that level. The rest counts at
// the rate of memory. Levels without a measured rate are skipped.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "autotune/measure/kernel_arithmetic.h"
#include "autotune/measure/mac_instruction.h"
#include "autotune/measure/timing_lock.h"
#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// A ceiling that may limit a kernel: the arithmetic, or the bandwidth of a cache or of memory.
enum class Ceiling : uint8_t { kArithmetic, kL1, kL2, kL3, kMemory };
/// Returns "arithmetic", "L1", ..., "memory".
std::string_view Name(Ceiling ceiling);

/// The largest share of the machine that other processes may have. With a larger share, a ceiling
/// measured meanwhile is provisional, and times do not end a search.
inline constexpr double kMostDisturbance = 0.05;

/// The maximum rate of one arithmetic.
struct ArithmeticCeiling {
  double flops = 0;        // operations per second, two per multiply-add, all threads
  double disturbance = 0;  // share of the machine that other processes had
  bool IsProvisional() const { return disturbance > kMostDisturbance; }
  bool operator==(const ArithmeticCeiling&) const = default;
};

/// The capacity and bandwidth of a level of caches, summed over the caches of the target's threads.
struct CacheCeiling {
  double bytes = 0;             // capacity
  double bytes_per_second = 0;  // maximum of reading and copying; 0: not measured
  bool operator==(const CacheCeiling&) const = default;
};

/// The least time of a kernel, and the ceiling that determines it.
struct RooflineBound {
  double seconds = 0;
  Ceiling by = Ceiling::kArithmetic;
};

struct Roofline {
  double bytes_per_second = 0;  // bytes read plus written by a copy larger than the caches
  std::array<CacheCeiling, 3> caches = {};  // L1, L2, L3
  /// Measured ceilings by name; the one of float32 is always present.
  std::map<std::string, ArithmeticCeiling> arithmetics = {};

  const ArithmeticCeiling& Float32() const;
  /// Returns true if the ceiling of float32 is provisional. Caches and memory are measured together
  /// with float32.
  bool IsProvisional() const { return Float32().IsProvisional(); }
  /// Returns true if rates relative to the roofline are meaningful: it is not provisional, and L1
  /// was measured. Earlier versions did not measure caches.
  bool IsReliable() const { return !IsProvisional() && caches[0].bytes_per_second > 0; }

  /// Returns the ceiling of the arithmetic; none if it was not measured.
  std::optional<ArithmeticCeiling> CeilingOf(const MacInstruction& by) const;
  /// Returns the useful operations per second that a kernel's arithmetic allows; none if its
  /// ceiling was not measured.
  std::optional<double> PeakFlops(const KernelArithmetic& arithmetic) const;

  /// Returns the least seconds of a kernel's traffic of `bytes`, through the caches.
  double TrafficSeconds(double bytes) const;
  /// Returns the least time of a kernel with this work. Without an arithmetic only the traffic
  /// counts. Returns none if the ceiling of the arithmetic is unknown or provisional.
  std::optional<RooflineBound> BoundFor(const std::optional<KernelArithmetic>& arithmetic,
                                        double flops, double bytes) const;
  bool operator==(const Roofline&) const = default;
};

/// Returns the capacities of the caches of the target's threads, without rates. The capacities are
/// 0 for a device.
std::array<CacheCeiling, 3> CachesOf(const Target& target);

/// Measures the ceilings of float32, caches and memory; takes about a second. Errors:
/// kResourceLimit without memory, kDevice if this machine cannot run the target's code,
/// kUnsupported for a device.
Result<Roofline> MeasureRoofline(const Target& target);
/// Measures the ceiling of one arithmetic; takes about 0.4 seconds. Errors: kResourceLimit without
/// memory, kDevice if this machine cannot run the target's code, kUnsupported if the target lacks
/// the instruction.
Result<ArithmeticCeiling> MeasureArithmetic(const Target& target, const MacInstruction& by);

/// Returns the error if it is internal (kInternal), else success. A machine that lacks the target's
/// vectors or the memory cannot measure a ceiling, and the caller continues without the ceiling.
Status FailIfInternal(const Error& error);

/// Combines two measurements. A disturbance can only lower a ceiling, so the greater ceiling is
/// valid. The result has the disturbance of the greater ceiling, or the smaller of both
/// disturbances if the ceilings differ by at most 3 %.
ArithmeticCeiling Combine(const ArithmeticCeiling& a, const ArithmeticCeiling& b);
Roofline Combine(const Roofline& a, const Roofline& b);

/// Returns the recorded roofline with all recorded arithmetics; none if memory or float32 has no
/// record. A ceiling without a recorded disturbance is provisional.
Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target);
/// Combines the recorded roofline, if there is one, with this one, records the result and returns
/// it.
Result<Roofline> RecordRoofline(Database& database, const Target& target, const Roofline& roofline);

/// Returns the roofline with the ceilings of these arithmetics. Missing or provisional ceilings,
/// except that of float32, are measured. Arithmetics that the target lacks, or this machine cannot
/// measure, are skipped. If `lock` is not null, the measurements hold the lock. Errors: kInternal;
/// those of TimingLock::Acquire.
Result<Roofline> WithArithmetics(Roofline roofline, const Target& target,
                                 std::span<const MacInstruction* const> used,
                                 TimingLock* lock = nullptr);

/// Returns the recorded roofline, combined with measurements. Measures the machine if its roofline
/// is not recorded or not reliable (IsReliable), and the arithmetics `used` as WithArithmetics
/// does. The measurements are not recorded. `database` may be null: then everything is measured.
/// `lock` is that of WithArithmetics.
Result<Roofline> RecordedOrMeasured(const Database* database, const Target& target,
                                    std::span<const MacInstruction* const> used,
                                    TimingLock* lock = nullptr);
/// Returns the roofline of RecordedOrMeasured. Records a changed roofline if `database` is not
/// null.
Result<Roofline> EnsureRoofline(Database* database, const Target& target,
                                std::span<const MacInstruction* const> used = {},
                                TimingLock* lock = nullptr);

}  // namespace tunec
