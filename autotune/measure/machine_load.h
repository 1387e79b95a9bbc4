// Whether this process has the machine for itself. Times that are taken while others use it say
// little, and a ceiling measured then is too low.
#pragma once

#include <functional>

namespace tunec {

/// What threads that run at the same time came to.
struct SideBySide {
  double seconds = 0;  // from the common start to the end of the last
  double share = 1;    // processor time that the threads got, over the time that they ran
};
/// Runs `work` on `threads` threads at once, numbered from 0.
SideBySide RunSideBySide(int threads, const std::function<void(int thread)>& work);

/// What the host of a virtual machine gave to others since the meter was made.
class StealMeter {
 public:
  StealMeter();
  /// The part of the processors' time; 0 where the system does not tell.
  double Share() const;

 private:
  struct Ticks {
    double stolen = 0;
    double all = 0;
  };
  static Ticks Read();
  Ticks start_;
};

/// The part of the machine that others have now, as `threads` threads find it. Takes a twentieth
/// of a second; the caller's own threads and workers should rest meanwhile.
double BusyShare(int threads);

}  // namespace tunec
