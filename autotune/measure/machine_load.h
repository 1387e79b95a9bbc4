// Measures the part of the machine that other processes use. Times measured meanwhile say little,
// and a ceiling measured then is too low.
#pragma once

#include <filesystem>
#include <map>
#include <span>

namespace tunec {

/// What the system has counted of one processor since it started, in seconds.
struct ProcessorTimes {
  double idle = 0;    // nobody had work for it
  double stolen = 0;  // the host of a virtual machine gave it to others
  double all = 0;
  bool operator==(const ProcessorTimes&) const = default;
};

/// The times of all processors, by their numbers. None where /proc/stat below `root` does not tell.
std::map<int, ProcessorTimes> ReadProcessorTimes(const std::filesystem::path& root = "/");

/// The counts at one time.
struct LoadSample {
  double clock = 0;  // in seconds
  double own = 0;    // seconds of processors that this process has used
  std::map<int, ProcessorTimes> processors;

  static LoadSample Now();
};

/// Returns how much others took, between two samples, of the processors that `threads` threads
/// need: 1 is all. Only these `processors` count. As long as others leave enough of them, it is 0.
/// So it is where the system does not count, or hides one of the processors, as a container may do.
double OthersShare(const LoadSample& before, const LoadSample& after,
                   std::span<const int> processors, int threads);

/// What others have had since the meter was made, as a process with `threads` threads finds it.
class LoadMeter {
 public:
  explicit LoadMeter(int threads) : threads_(threads), start_(LoadSample::Now()) {}
  double Share() const;

 private:
  int threads_;
  LoadSample start_;
};

/// The part of the machine that others have now, as `threads` threads find it. Takes a fifth of a
/// second; the caller's own threads and workers should rest meanwhile.
double BusyShare(int threads);

}  // namespace tunec
