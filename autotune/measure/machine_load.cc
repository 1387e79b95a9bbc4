// /proc/stat counts the time of all processes, including this one. The system counts the time of
// this process exactly. For running processes /proc/stat has only an estimate: each clock tick
// samples the running process, and runs of a few milliseconds fall between ticks. The idle time is
// exact up to the unit of the file.
#include "autotune/measure/machine_load.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "autotune/measure/read_clock.h"
#include "autotune/measure/side_by_side.h"
#include "support/processors.h"

namespace tunec {
namespace {

double TicksPerSecond() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

// Parses the fields: user nice system idle iowait irq softirq steal. The remaining fields, for
// guests, are already part of user and nice.
ProcessorTimes ParseTimes(std::istringstream& words) {
  constexpr int kIdle = 3;
  constexpr int kWaiting = 4;
  constexpr int kSteal = 7;
  ProcessorTimes ticks;
  double value = 0;
  for (int field = 0; field <= kSteal && words >> value; ++field) {
    ticks.all += value;
    if (field == kIdle || field == kWaiting) ticks.idle += value;
    if (field == kSteal) ticks.stolen = value;
  }
  const double rate = TicksPerSecond();
  return {.idle = ticks.idle / rate, .stolen = ticks.stolen / rate, .all = ticks.all / rate};
}

/// Returns the times of a processor between two samples. They are 0 if a sample lacks the
/// processor.
ProcessorTimes Between(const LoadSample& before, const LoadSample& after, int processor) {
  const auto old = before.processors.find(processor);
  const auto now = after.processors.find(processor);
  if (old == before.processors.end() || now == after.processors.end()) return {};
  return {.idle = now->second.idle - old->second.idle,
          .stolen = now->second.stolen - old->second.stolen,
          .all = now->second.all - old->second.all};
}

}  // namespace

std::map<int, ProcessorTimes> ReadProcessorTimes(const std::filesystem::path& root) {
  std::map<int, ProcessorTimes> processors;
  std::ifstream file(root / "proc/stat");
  // The first line, "cpu", has the sums. Lines "cpu0" and so on follow, then other counters.
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int number = 0;
    if (line.size() > 3 && line[3] != ' ' && words >> number)
      processors[number] = ParseTimes(words);
  }
  return processors;
}

LoadSample LoadSample::Now() {
  LoadSample sample;
  sample.processors = ReadProcessorTimes();
  sample.clock = ReadClock(CLOCK_MONOTONIC);
  sample.own = ReadClock(CLOCK_PROCESS_CPUTIME_ID);
  return sample;
}

double ShareOfOtherProcesses(const LoadSample& before, const LoadSample& after,
                             std::span<const int> processors, int threads) {
  const double seconds = after.clock - before.clock;
  const auto count = static_cast<double>(processors.size());
  double taken = before.own - after.own;
  double stolen = 0;
  for (const int processor : processors) {
    const ProcessorTimes times = Between(before, after, processor);
    if (times.all < seconds / 2) return 0;  // counts that do not advance are not real
    // Idle times are rounded down to the unit of the file, so their difference may be too small.
    taken += seconds - times.idle - 1 / TicksPerSecond();
    stolen += times.stolen;
  }
  const double needed = std::min(static_cast<double>(threads), count) * seconds;
  if (needed <= 0) return 0;
  const double left = count * seconds - std::max(taken, stolen);
  return std::clamp(1 - left / needed, 0.0, 1.0);
}

double LoadMeter::Share() const {
  return ShareOfOtherProcesses(start_, LoadSample::Now(), AllowedProcessors(), threads_);
}

double BusyShare(int threads) {
  constexpr std::chrono::milliseconds kRest{150};
  constexpr double kSeconds = 0.05;
  ThreadTeam team(threads);
  const LoadMeter meter(threads);
  std::this_thread::sleep_for(kRest);
  const SideBySide run = team.Run([](int) {
    const double end = ReadClock(CLOCK_MONOTONIC) + kSeconds;
    while (ReadClock(CLOCK_MONOTONIC) < end) {
    }
  });
  return std::max(1 - run.share, meter.Share());
}

}  // namespace tunec
