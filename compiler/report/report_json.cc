#include "compiler/report/report_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "autotune/keys.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the number of earlier trials of the kind that these options would make: predicted or
/// measured.
int64_t KnownOf(const CompileReport& report, const CompileOptions& options) {
  return PredictsTimes(options.target) ? report.known.predicted_trials : report.known.trials;
}

/// Returns the object "trials". "stopped" is null if the options request no tuning.
Json TrialsJson(const CompileReport& report, const CompileOptions& options) {
  const TuneProgress& tuning = report.tuning.progress;
  Json json = {{"times", PredictsTimes(options.target) ? "predicted" : "measured"},
               {"asked", options.trials},
               {"recorded", options.Tunes() ? tuning.trials : KnownOf(report, options)},
               {"new", tuning.measured},
               {"stopped", nullptr},
               {"elapsed_seconds", tuning.elapsed_seconds},
               {"groups_tuned_before", report.known.tuned},
               {"groups_predicted_before", report.known.predicted},
               {"groups_distinct", report.known.groups}};
  if (options.Tunes()) json["stopped"] = DescribeStop(report.tuning);
  return json;
}

/// Returns the row of a kernel. The row's "count" is 0; the caller adds 1 for each kernel.
Json KernelJson(const KernelReport& kernel, size_t group) {
  Json json = {{"group", group},
               {"name", kernel.name},
               {"kind", kernel.kind},
               {"workload", kernel.workload},
               {"count", 0},
               {"flops", kernel.flops},
               {"bytes", kernel.bytes},
               {"arithmetic", nullptr},
               {"phases", kernel.phases},
               {"schedule", kernel.sketch_source},
               {"recorded_ms", nullptr},
               {"predicted_ms", nullptr},
               {"object", kernel.reused ? "reused" : "compiled"},
               {"notes", kernel.notes}};
  if (kernel.arithmetic) json["arithmetic"] = kernel.arithmetic->by->name;
  if (kernel.recorded_seconds) json["recorded_ms"] = 1e3 * *kernel.recorded_seconds;
  if (kernel.predicted_seconds) json["predicted_ms"] = 1e3 * *kernel.predicted_seconds;
  return json;
}

/// Returns the rows of all kernels. Kernels of equal workloads are one row with their count.
Json KernelsJson(const std::vector<KernelReport>& kernels) {
  Json rows = Json::array();
  std::map<std::string, size_t> row_of;  // by workload
  for (size_t group = 0; group < kernels.size(); ++group) {
    const auto [row, is_new] = row_of.emplace(kernels[group].workload, rows.size());
    if (is_new) rows.push_back(KernelJson(kernels[group], group));
    Json& count = rows[row->second]["count"];
    count = count.get<int64_t>() + 1;
  }
  return rows;
}

Json PhaseJson(const PredictedPhase& phase, size_t group) {
  const PhaseLaunch& launch = phase.launch;
  Json json = {{"group", group},
               {"function", launch.symbol},
               {"blocks", launch.Blocks()},
               {"threads", ThreadsOf(launch)},
               {"registers", nullptr},
               {"spilled_bytes", nullptr},
               {"local_bytes", nullptr},
               {"shared_bytes", launch.shared_bytes},
               {"blocks_at_once", nullptr},
               {"occupancy", nullptr},
               {"occupancy_limit", nullptr},
               {"waves", nullptr},
               {"operations", AllOperations(phase.work)},
               {"l2_bytes", phase.work.l2_bytes},
               {"memory_bytes", phase.work.memory_bytes},
               {"predicted_ms", nullptr},
               {"predicted_bound", nullptr}};
  if (launch.registers > 0) {
    json["registers"] = launch.registers;
    json["spilled_bytes"] = launch.spilled_bytes;
    json["local_bytes"] = launch.local_bytes;
  }
  if (phase.occupancy) {
    json["blocks_at_once"] = phase.occupancy->blocks;
    json["occupancy"] = phase.occupancy->share;
    json["occupancy_limit"] = Name(phase.occupancy->limit);
  }
  if (phase.waves > 0) json["waves"] = phase.waves;
  if (phase.time) {
    json["predicted_ms"] = 1e3 * phase.time->seconds;
    json["predicted_bound"] = Name(phase.time->bound);
  }
  return json;
}

/// Returns a row per phase of the distinct kernels, or null for kernels of the host.
Json PredictedJson(const std::vector<KernelReport>& kernels, const Target& target) {
  if (!target.device) return nullptr;
  Json rows = Json::array();
  std::set<std::string> seen;  // workloads
  for (size_t group = 0; group < kernels.size(); ++group) {
    if (!seen.insert(kernels[group].workload).second) continue;
    for (const PredictedPhase& phase : kernels[group].predicted)
      rows.push_back(PhaseJson(phase, group));
  }
  return rows;
}

}  // namespace

Json ReportJson(const CompiledModel& model, const CompileOptions& options) {
  const CompileReport& report = model.report;
  const MemoryUse memory = model.executable->Memory();
  return {{"target", Print(options.target)},
          {"accuracy", Print(options.accuracy)},
          {"threads", model.executable->Threads()},
          {"nodes", report.nodes_before},
          {"nodes_after_passes", report.nodes_after},
          {"groups", report.kernels.size()},
          {"distinct_kernels", CountDistinctKernels(report)},
          {"launches", report.launches},
          {"phases", report.phases},
          {"trials", TrialsJson(report, options)},
          {"objects_compiled", report.objects_compiled},
          {"objects_reused", report.objects_reused},
          {"arena_bytes", report.arena_bytes},
          {"constant_bytes", memory.constants},
          {"context_bytes", memory.per_context},
          {"passes_ms", report.passes_ms},
          {"compile_ms", report.compile_ms},
          {"kernels", KernelsJson(report.kernels)},
          {"predicted", PredictedJson(report.kernels, options.target)}};
}

}  // namespace tunec
