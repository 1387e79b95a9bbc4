#include "autotune/measure/machine_load.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tunec {
namespace {

double Seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

SideBySide RunSideBySide(int threads, const std::function<void(int thread)>& work) {
  struct Times {
    double wall = 0;
    double processor = 0;
    double end = 0;
  };
  std::vector<Times> times(static_cast<size_t>(threads));
  std::atomic<int> ready = 0;
  std::atomic<double> start = 0;
  const auto run = [&](int thread) {
    // The last to arrive starts all. They wait awake, so that nobody has to be woken then; one
    // that is not on a processor at the start counts as kept from it.
    if (++ready == threads) start = Seconds(CLOCK_MONOTONIC);
    while (start == 0) std::this_thread::yield();
    const double processor = Seconds(CLOCK_THREAD_CPUTIME_ID);
    work(thread);
    Times& own = times[static_cast<size_t>(thread)];
    own.processor = Seconds(CLOCK_THREAD_CPUTIME_ID) - processor;
    own.end = Seconds(CLOCK_MONOTONIC);
    own.wall = own.end - start;
  };
  {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
    run(0);
  }
  double wall = 0;
  double processor = 0;
  double end = start;
  for (const Times& own : times) {
    wall += own.wall;
    processor += own.processor;
    end = std::max(end, own.end);
  }
  return {.seconds = end - start, .share = wall > 0 ? std::min(processor / wall, 1.0) : 1};
}

StealMeter::StealMeter() : start_(Read()) {}

StealMeter::Ticks StealMeter::Read() {
  // cpu user nice system idle iowait irq softirq steal ...
  constexpr int kSteal = 7;
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  std::string name;
  words >> name;
  Ticks ticks;
  double value = 0;
  for (int field = 0; field <= kSteal && words >> value; ++field) {
    ticks.all += value;
    if (field == kSteal) ticks.stolen = value;
  }
  return ticks;
}

double StealMeter::Share() const {
  const Ticks now = Read();
  const double all = now.all - start_.all;
  return all > 0 ? (now.stolen - start_.stolen) / all : 0;
}

double BusyShare(int threads) {
  constexpr double kSeconds = 0.05;
  const StealMeter steal;
  const SideBySide run = RunSideBySide(threads, [](int) {
    const double end = Seconds(CLOCK_MONOTONIC) + kSeconds;
    while (Seconds(CLOCK_MONOTONIC) < end) {
    }
  });
  return std::max(1 - run.share, steal.Share());
}

}  // namespace tunec
