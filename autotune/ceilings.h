// The ceilings that one tuning judges by, and what it learns about them.
#pragma once

#include <functional>
#include <optional>

#include "autotune/roofline.h"
#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

class Ceilings {
 public:
  using Measure = std::function<Result<Roofline>()>;

  /// Without `measure` only what is recorded is known. Both references must outlive this.
  Ceilings(Database& database, const Target& target, Measure measure)
      : database_(database), target_(target), measure_(std::move(measure)) {}

  /// Reads what is recorded.
  Status Load();
  /// Measures where nothing is recorded, or only something provisional.
  Status Ensure();
  /// A kernel has reached so many operations per second. Above the ceiling it proves that wrong: it
  /// is measured again, a few times at most. True when the ceiling has grown.
  Result<bool> Meet(double flops_per_second);

  const std::optional<Roofline>& Known() const { return roofline_; }
  /// The ceilings, guessed from the target where nothing is known.
  double PeakFlops() const;
  double BytesPerSecond() const;
  /// Whether a search may end at the ceiling: it was measured while the machine was free, and no
  /// kernel was seen above it.
  bool Firm() const;

 private:
  Status MeasureAgain();

  Database& database_;
  const Target& target_;
  Measure measure_;
  std::optional<Roofline> roofline_;
  double fastest_ = 0;  // kernel, operations per second
  int measured_ = 0;    // times
};

}  // namespace tunec
