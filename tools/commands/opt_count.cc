#include "tools/commands/opt_count.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/front_end.h"
#include "compiler/report/predict.h"
#include "graph/count_graph.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

struct PassCounts {
  std::string name;
  GraphCounts counts;
};

/// A recorder of counts after each pass. A pass without changes has the previous counts.
class CountRecorder {
 public:
  CountRecorder(const Graph& graph, PipelineOptions& pipeline) {
    changed_.push_back(CountGraph(graph));
    pipeline.on_change = [this, next = pipeline.on_change](
                             const PassRecord& record, const Graph& before, const Graph& after) {
      changed_.push_back(CountGraph(after));
      if (next) next(record, before, after);
    };
  }

  /// Returns the counts of the input graph, then those after each pass.
  Result<std::vector<PassCounts>> Rows(const std::vector<PassRecord>& records) const {
    std::vector<PassCounts> rows;
    size_t state = 0;
    TUNEC_ASSIGN(const GraphCounts read, changed_[0]);
    rows.push_back({"(as read)", read});
    for (const PassRecord& record : records) {
      if (record.changed) ++state;
      TUNEC_ASSIGN(const GraphCounts counts, changed_[state]);
      rows.push_back({record.name, counts});
    }
    return rows;
  }

 private:
  std::vector<Result<GraphCounts>> changed_;
};

std::string Bytes(int64_t bytes) { return BytesText(static_cast<double>(bytes)); }

Result<RunPrediction> Predict(const Graph& graph, FusionMode mode, const CompileOptions& compile) {
  CompileOptions options = compile;
  options.fusion = mode;
  TUNEC_ASSIGN(const FrontReport front, FuseAndLower(graph, options));
  return PredictRun(front, options);
}

nlohmann::ordered_json RunJson(const RunPrediction& run) {
  return {{"groups", run.groups},
          {"launches", run.launches},
          {"phases", run.phases},
          {"bytes", run.bytes},
          {"arena_bytes", run.arena_bytes}};
}

void PrintCountsJson(const std::vector<PassCounts>& rows, const RunPrediction& before,
                     const RunPrediction& run) {
  nlohmann::ordered_json json = {{"passes", nlohmann::ordered_json::array()}};
  for (size_t i = 1; i < rows.size(); ++i)
    json["passes"].push_back(
        {{"name", rows[i].name}, {"nodes", rows[i].counts.nodes}, {"bytes", rows[i].counts.bytes}});
  json["groups"] = run.groups;
  json["phases"] = run.phases;
  json["as_read"] = RunJson(before);
  json["fused"] = RunJson(run);
  fmt::print("{}\n", json.dump());
}

void PrintTable(const std::vector<PassCounts>& rows) {
  TextTable table({{"pass"},
                   {"nodes", Align::kRight},
                   {"bytes moved", Align::kRight},
                   {"parameters", Align::kRight}});
  for (const PassCounts& row : rows)
    table.AddRow({row.name, fmt::format("{}", row.counts.nodes), Bytes(row.counts.bytes),
                  fmt::format("{}", row.counts.parameters)});
  fmt::print("{}\n", table.Print());
}

void PrintRuns(const RunPrediction& before, const RunPrediction& after) {
  TextTable table({{"run"},
                   {"groups", Align::kRight},
                   {"launches", Align::kRight},
                   {"phases", Align::kRight},
                   {"bytes moved", Align::kRight},
                   {"peak memory", Align::kRight}});
  const auto add = [&](const char* name, const RunPrediction& run) {
    table.AddRow({name, fmt::format("{}", run.groups), fmt::format("{}", run.launches),
                  fmt::format("{}", run.phases), Bytes(run.bytes), Bytes(run.arena_bytes)});
  };
  add("as read, a kernel for each node", before);
  add("after the passes, fused", after);
  fmt::print("{}", table.Print());
}

}  // namespace

Result<PipelineResult> PrintCounts(const Graph& graph, const PipelineOptions& pipeline,
                                   const CountArguments& arguments) {
  PipelineOptions counted = pipeline;
  const CountRecorder counting(graph, counted);
  TUNEC_ASSIGN(PipelineResult result, RunPipeline(graph, counted));
  TUNEC_ASSIGN(const std::vector<PassCounts> rows, counting.Rows(result.records));
  TUNEC_ASSIGN(const RunPrediction after,
               Predict(result.graph, FusionMode::kFused, arguments.compile));
  TUNEC_ASSIGN(const RunPrediction before, Predict(graph, FusionMode::kUnfused, arguments.compile));
  if (arguments.json) {
    PrintCountsJson(rows, before, after);
    return result;
  }
  PrintTable(rows);
  PrintRuns(before, after);
  return result;
}

}  // namespace tunec
