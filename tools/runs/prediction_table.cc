#include "tools/runs/prediction_table.h"

#include <fmt/format.h>

#include <set>

namespace tunec {
namespace {

Cell BytesCell(double bytes) { return {BytesText(bytes), bytes}; }

// Returns a cell such as "50 % registers": the share of a multiprocessor's threads in use, and the
// resource that limits the share. Returns a missing cell if the occupancy is unknown.
Cell OccupancyCell(const std::optional<Occupancy>& occupancy) {
  if (!occupancy) return Missing();
  return fmt::format("{:.0f} % {}", 100 * occupancy->share, Name(occupancy->limit));
}

bool HasAssembledPhase(const CompileReport& report) {
  for (const KernelReport& kernel : report.kernels) {
    for (const PredictedPhase& phase : kernel.predicted)
      if (phase.launch.registers > 0) return true;
  }
  return false;
}

std::vector<Cell> RowOf(const PredictedPhase& phase, size_t group, const std::string& name) {
  const PhaseLaunch& launch = phase.launch;
  const bool assembled = launch.registers > 0;
  return {CountCell(static_cast<int64_t>(group)),
          name,
          CountCell(launch.Blocks()),
          CountCell(ThreadsOf(launch)),
          assembled ? CountCell(launch.registers) : Missing(),
          assembled ? CountCell(launch.spilled_bytes) : Missing(),
          BytesCell(static_cast<double>(launch.shared_bytes)),
          OccupancyCell(phase.occupancy),
          phase.waves > 0 ? CountCell(phase.waves) : Missing(),
          BytesCell(phase.work.l2_bytes),
          BytesCell(phase.work.memory_bytes),
          phase.time ? Cell(DurationText(phase.time->seconds)) : Missing(),
          phase.time ? Cell(std::string(Name(phase.time->bound))) : Missing()};
}

}  // namespace

TextTable PredictionTable(const CompileReport& report, size_t name_width) {
  TextTable table({{"group", Align::kRight},
                   {"kernel"},
                   {"blocks", Align::kRight},
                   {"threads", Align::kRight},
                   {"registers", Align::kRight},
                   {"spilled", Align::kRight},
                   {"shared", Align::kRight},
                   {"occupancy"},
                   {"waves", Align::kRight},
                   {"L2", Align::kRight},
                   {"memory", Align::kRight},
                   {"predicted", Align::kRight},
                   {"bound"}});
  std::set<std::string> seen;  // workloads of earlier rows
  for (size_t group = 0; group < report.kernels.size(); ++group) {
    const KernelReport& kernel = report.kernels[group];
    if (!seen.insert(kernel.workload).second) continue;
    for (const PredictedPhase& phase : kernel.predicted)
      table.AddRow(RowOf(phase, group, Shorten(kernel.name, name_width)));
  }
  return table;
}

std::string DescribePrediction(const CompileReport& report, const Accelerator& device,
                               std::string_view gpu) {
  if (device.part.empty())
    return fmt::format("no times are predicted: no GPU of {} is known", device.name);
  if (!HasAssembledPhase(report))
    return "no times are predicted: emulated kernels are assembled only while they are tuned, "
           "--trials";
  const std::string choice =
      gpu.empty() ? fmt::format("; it is assumed for {}, --gpu names another", device.name) : "";
  return fmt::format(
      "no time is measured: those above are predicted for {} ({} processors, {:.2f} GHz, "
      "{:.0f} GB/s){}",
      device.part, device.processors, 1e-9 * static_cast<double>(device.clock_hertz),
      1e-9 * static_cast<double>(device.bytes_per_second), choice);
}

}  // namespace tunec
