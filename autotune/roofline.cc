#include "autotune/roofline.h"

#include <algorithm>

namespace tunec {
namespace {

constexpr char kPeakFlops[] = "peak_flops";
constexpr char kBandwidth[] = "dram_bytes_per_second";
constexpr char kDisturbance[] = "ceilings_disturbance";

}  // namespace

double Roofline::SecondsFor(double flops, double bytes) const {
  return std::max(flops / peak_flops, bytes / bytes_per_second);
}

Roofline Combine(const Roofline& a, const Roofline& b) {
  constexpr double kAgree = 1.03;
  const Roofline& greater = a.peak_flops < b.peak_flops ? b : a;
  const Roofline& other = a.peak_flops < b.peak_flops ? a : b;
  const bool agree = greater.peak_flops <= kAgree * other.peak_flops;
  return {.peak_flops = greater.peak_flops,
          .bytes_per_second = std::max(a.bytes_per_second, b.bytes_per_second),
          .disturbance = agree ? std::min(a.disturbance, b.disturbance) : greater.disturbance};
}

Result<std::optional<Roofline>> RecordedRoofline(const Database& database, const Target& target) {
  const std::string key = Print(target);
  TUNEC_ASSIGN(const auto peak, database.GetMachineFact(key, kPeakFlops));
  TUNEC_ASSIGN(const auto bandwidth, database.GetMachineFact(key, kBandwidth));
  TUNEC_ASSIGN(const auto disturbance, database.GetMachineFact(key, kDisturbance));
  if (!peak || !bandwidth || peak->value <= 0 || bandwidth->value <= 0) {
    return std::optional<Roofline>();
  }
  return std::optional(
      Roofline{peak->value, bandwidth->value, disturbance ? disturbance->value : 1});
}

Result<Roofline> RecordRoofline(Database& database, const Target& target,
                                const Roofline& roofline) {
  const std::string key = Print(target);
  TUNEC_ASSIGN(const auto recorded, RecordedRoofline(database, target));
  const Roofline known = recorded ? Combine(*recorded, roofline) : roofline;
  for (const MachineFact& fact :
       {MachineFact{kPeakFlops, known.peak_flops,
                    "float32 multiply-adds in registers, all threads"},
        MachineFact{kBandwidth, known.bytes_per_second,
                    "copy of 256 MiB, bytes read and written, all threads"},
        MachineFact{kDisturbance, known.disturbance,
                    "part of the machine that others had meanwhile"}}) {
    TUNEC_RETURN_IF_ERROR(database.SetMachineFact(key, fact));
  }
  return known;
}

Result<Roofline> EnsureRoofline(Database* database, const Target& target) {
  if (database == nullptr) return MeasureRoofline(target);
  TUNEC_ASSIGN(const auto recorded, RecordedRoofline(*database, target));
  if (recorded && !recorded->Provisional()) return *recorded;
  TUNEC_ASSIGN(const Roofline roofline, MeasureRoofline(target));
  return RecordRoofline(*database, target, roofline);
}

}  // namespace tunec
