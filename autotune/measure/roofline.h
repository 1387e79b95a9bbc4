// The machine's ceilings: what no kernel can exceed. Measured for a target and kept in the
// database as machine facts `peak_flops`, `l1_bytes_per_second` (and so on for l2, l3, dram) and
// `ceilings_disturbance`.
//
// Each arithmetic has a ceiling of its own (mac_instruction.h). That of float32 belongs to every
// roofline; others are measured when a kernel uses them, and kept as `peak_flops.NAME` and
// `ceilings_disturbance.NAME`.
//
// A kernel that runs again and again finds in each cache as much of its data as fits. So the least
// time for its traffic takes the first bytes from the first level, what does not fit there from the
// second, and the rest at last from memory.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "autotune/measure/kernel_arithmetic.h"
#include "autotune/measure/mac_instruction.h"
#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// What limits a kernel at best.
enum class Ceiling : uint8_t { kArithmetic, kL1, kL2, kL3, kMemory };
/// "arithmetic", "L1", ..., "memory".
std::string_view Name(Ceiling ceiling);

/// The part of the machine that others may have while a ceiling is measured. Beyond it, the true
/// one may be far above.
inline constexpr double kMostDisturbance = 0.05;

/// What one arithmetic does at most.
struct ArithmeticCeiling {
  double flops = 0;        // per second, two for a multiply-add, all threads
  double disturbance = 0;  // the part of the machine that others had while it was measured
  bool Provisional() const { return disturbance > kMostDisturbance; }
  bool operator==(const ArithmeticCeiling&) const = default;
};

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
  double bytes_per_second = 0;  // of a copy too large for the caches: read and written, together
  std::array<CacheCeiling, 3> caches = {};  // L1, L2, L3
  /// By name: those that were measured, float32's always among them.
  std::map<std::string, ArithmeticCeiling> arithmetics = {};

  const ArithmeticCeiling& Float32() const;
  /// Measured while the machine was busy: caches and memory are measured along with float32.
  bool Provisional() const { return Float32().Provisional(); }
  /// Whether a share of it says something: it is not provisional, and the caches were measured,
  /// which earlier versions did not do.
  bool Sure() const { return !Provisional() && caches[0].bytes_per_second > 0; }

  /// None where the arithmetic was never measured.
  std::optional<ArithmeticCeiling> CeilingOf(const MacInstruction& by) const;
  /// The useful operations per second that a kernel's arithmetic allows it; none where that was
  /// never measured.
  std::optional<double> PeakFlops(const KernelArithmetic& arithmetic) const;

  /// The least time of a kernel with this work. Without an arithmetic only its traffic takes time.
  /// None where the ceiling of its arithmetic is not known, or provisional.
  std::optional<RooflineBound> BoundFor(const std::optional<KernelArithmetic>& arithmetic,
                                        double flops, double bytes) const;
  bool operator==(const Roofline&) const = default;
};

/// What the caches of the target's threads hold; no rates. Nothing of a device.
std::array<CacheCeiling, 3> CachesOf(const Target& target);

/// Takes about a second; of arithmetics only float32's. kResourceLimit without memory, kDevice
/// where this machine cannot run the target's vectors, kUnsupported for a device.
Result<Roofline> MeasureRoofline(const Target& target);
/// Takes a quarter of a second. kDevice where this machine cannot run the target's code,
/// kUnsupported where the target has no such instruction.
Result<ArithmeticCeiling> MeasureArithmetic(const Target& target, const MacInstruction& by);

/// What of an error of these may not be passed over: our own (kInternal). A machine without the
/// target's vectors, or without the memory, has no such ceiling, and one does without.
Status OwnFault(const Error& error);

/// What two measurements together say. Whatever disturbs can only lower a ceiling: the greater
/// holds. It is as sure as its own measurement, or as the surer of two that agree.
ArithmeticCeiling Combine(const ArithmeticCeiling& a, const ArithmeticCeiling& b);
Roofline Combine(const Roofline& a, const Roofline& b);

/// The recorded one with all arithmetics; none when it was never measured. What has no recorded
/// disturbance is provisional.
Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target);
/// Records what the recorded and this one say together, and returns it.
Result<Roofline> RecordRoofline(Database& database, const Target& target, const Roofline& roofline);

/// The roofline with the ceilings of these arithmetics measured where it has none, or a provisional
/// one. What the target lacks, or this machine cannot measure, is left out. Errors: kInternal.
Result<Roofline> WithArithmetics(Roofline roofline, const Target& target,
                                 std::span<const MacInstruction* const> used);

/// The recorded one, else measured; likewise each of these arithmetics that the target has. Nothing
/// is recorded. `database` may be null: then everything is measured.
Result<Roofline> RecordedOrMeasured(const Database* database, const Target& target,
                                    std::span<const MacInstruction* const> used);
/// The same, and what was measured is recorded where there is a database.
Result<Roofline> EnsureRoofline(Database* database, const Target& target,
                                std::span<const MacInstruction* const> used = {});

}  // namespace tunec
