// Measurement of the part of the machine that other processes use. On a busy machine, times are not
// reliable and a measured ceiling may be too low.
#pragma once

#include <filesystem>
#include <map>
#include <span>

namespace tunec {

/// The times that the system has counted for one processor in some period, in seconds.
struct ProcessorTimes {
  double idle = 0;    // no process had work
  double stolen = 0;  // used by other virtual machines on the same host
  double all = 0;     // including the time of processes
  bool operator==(const ProcessorTimes&) const = default;
};

/// Returns the times since the system's start of all processors in proc/stat below `root`, by their
/// numbers. The result is empty if the file is missing or lists no processors.
std::map<int, ProcessorTimes> ReadProcessorTimes(const std::filesystem::path& root = "/");

/// The clock and the system's counters of processor time, read at one moment.
struct LoadSample {
  double clock = 0;  // in seconds
  double own = 0;    // processor time of this process, in seconds
  std::map<int, ProcessorTimes> processors;

  static LoadSample Now();
};

/// Returns the share that other processes used of the processors that `threads` threads need,
/// between two samples: 0 is nothing, 1 is all. Only these `processors` count. The share is 0 if
/// other processes leave enough processors free. It is also 0 if the system does not count the
/// times, or hides one of the processors, as a container may do.
double ShareOfOtherProcesses(const LoadSample& before, const LoadSample& after,
                             std::span<const int> processors, int threads);

/// A meter for a process with `threads` threads. It measures the share that other processes have
/// used since the meter was made (ShareOfOtherProcesses).
class LoadMeter {
 public:
  explicit LoadMeter(int threads) : threads_(threads), start_(LoadSample::Now()) {}
  double Share() const;

 private:
  int threads_;
  LoadSample start_;
};

/// Returns the share of the machine that other processes use now, for a process with `threads`
/// threads, at most one per processor. Takes a fifth of a second; the caller's own threads and
/// workers should be idle meanwhile.
double BusyShare(int threads);

}  // namespace tunec
