// The ceilings (maximum rates of the machine, roofline.h) that one tuning uses and measures.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "autotune/measure/roofline.h"
#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

class Ceilings {
 public:
  /// Functions that measure ceilings. If a function is empty, only recorded values of its ceilings
  /// are available.
  struct Meters {
    std::function<Result<Roofline>()> machine;
    std::function<Result<ArithmeticCeiling>(const MacInstruction& by)> arithmetic;
  };

  /// Requires: both references outlive this object.
  Ceilings(Database& database, const Target& target, Meters meters)
      : database_(database), target_(target), meters_(std::move(meters)) {}

  /// Reads the recorded ceilings.
  Status Load();
  /// Measures the ceilings of float32, caches and memory if they are not recorded or are
  /// provisional (measured on a busy machine).
  Status Ensure();
  /// Measures the ceiling of `by` if it is unknown or provisional and was not measured before by
  /// this object. Measures only float32 as long as there is no roofline.
  Status EnsureArithmetic(const MacInstruction& by);
  /// Notes that a kernel of this arithmetic has reached `flops_per_second` useful operations per
  /// second. Measures the ceiling first if EnsureArithmetic would. If the kernel is the fastest so
  /// far and above the ceiling, the ceiling is measured again, at most three times in all.
  /// Returns true if this has raised the ceiling.
  Result<bool> NoteRate(const KernelArithmetic& arithmetic, double flops_per_second);

  const std::optional<Roofline>& Known() const { return roofline_; }
  /// Returns the useful operations per second that an arithmetic allows a kernel. If the ceiling is
  /// unknown, returns a guess from vectors and threads for the plain instructions of a host, and
  /// none for other instructions.
  std::optional<double> PeakFlops(const KernelArithmetic& arithmetic) const;
  /// Returns the least seconds of a kernel's traffic of `bytes` (Roofline::TrafficSeconds), or a
  /// guess if there is no roofline. The guess for a device does not depend on the host.
  double TrafficSeconds(double bytes) const;
  /// Returns true if a search may end at the arithmetic's ceiling: the ceiling was measured on an
  /// idle machine, and no kernel has exceeded it.
  bool IsFirm(const MacInstruction& by) const;

 private:
  // The rate of one arithmetic's fastest kernel, and the measurements of the arithmetic's ceiling.
  struct Past {
    double fastest = 0;  // highest rate of a kernel: operations of the instruction per second
    int measured = 0;    // number of measurements
  };

  std::optional<ArithmeticCeiling> Find(const MacInstruction& by) const;
  Status MeasureAgain(const MacInstruction& by);
  Status MeasureMachine();
  Status MeasureArithmetic(const MacInstruction& by);
  Past FindPast(const MacInstruction& by) const;

  Database& database_;
  const Target& target_;
  Meters meters_;
  std::optional<Roofline> roofline_;
  std::map<std::string, Past> past_;  // key: name of the arithmetic
};

}  // namespace tunec
