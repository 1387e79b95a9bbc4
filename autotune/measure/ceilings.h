// The ceilings that one tuning judges by, and what it learns about them.
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
  /// What measures. Either may be empty: then only what is recorded is known.
  struct Meters {
    std::function<Result<Roofline>()> machine;
    std::function<Result<ArithmeticCeiling>(const MacInstruction& by)> arithmetic;
  };

  /// Both references must outlive this.
  Ceilings(Database& database, const Target& target, Meters meters)
      : database_(database), target_(target), meters_(std::move(meters)) {}

  /// Reads what is recorded.
  Status Load();
  /// Measures the machine where nothing is recorded, or only something provisional.
  Status Ensure();
  /// Measures that arithmetic once, where nothing is recorded, or only something provisional.
  Status EnsureArithmetic(const MacInstruction& by);
  /// A kernel of this arithmetic has reached so many useful operations per second. The first kernel
  /// of an arithmetic has its ceiling measured, where that is not known. A kernel above it proves
  /// it wrong: it is measured again, a few times at most. True when a ceiling has grown.
  Result<bool> Meet(const KernelArithmetic& arithmetic, double flops_per_second);

  const std::optional<Roofline>& Known() const { return roofline_; }
  /// The useful operations per second that an arithmetic allows a kernel. Where nothing is known, a
  /// host's plain instructions are guessed from its vectors and threads; none of others then.
  std::optional<double> PeakFlops(const KernelArithmetic& arithmetic) const;
  /// Likewise of memory; never none. A device's is guessed from the device alone.
  double BytesPerSecond() const;
  /// Whether a search may end at the arithmetic's ceiling: it was measured while the machine was
  /// free, and no kernel was seen above it.
  bool Firm(const MacInstruction& by) const;

 private:
  // What happened to one arithmetic's ceiling.
  struct Past {
    double fastest = 0;  // kernel, its multiply-adds as operations per second
    int measured = 0;    // times
  };

  std::optional<ArithmeticCeiling> Find(const MacInstruction& by) const;
  Status MeasureAgain(const MacInstruction& by);
  Status MeasureMachine();
  Status MeasureArithmetic(const MacInstruction& by);
  Past PastOf(const MacInstruction& by) const;

  Database& database_;
  const Target& target_;
  Meters meters_;
  std::optional<Roofline> roofline_;
  std::map<std::string, Past> past_;  // by arithmetic
};

}  // namespace tunec
