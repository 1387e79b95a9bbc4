// The pipeline of graph passes. The pipeline verifies and times each pass, and reports changes.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/passes/pass.h"

namespace tunec {

struct NamedPass {
  std::string_view name;
  std::string_view summary;  // one line for --help
  Result<Graph> (*run)(const Graph&, const PassOptions&);
};

/// Returns every pass once.
std::span<const NamedPass> AllPasses();
/// Returns the names of the default pipeline in order. Some names occur several times.
std::vector<std::string> DefaultPipeline();

struct PassRecord {
  std::string name;
  int64_t nodes_before = 0;
  int64_t nodes_after = 0;
  double milliseconds = 0;
  bool changed = false;
};

struct PipelineOptions {
  PassOptions pass;
  std::vector<std::string> names = DefaultPipeline();
  std::set<std::string, std::less<>> disabled;
  /// Callback after each pass that changed the graph.
  std::function<void(const PassRecord&, const Graph& before, const Graph& after)> on_change;
};

struct PipelineResult {
  Graph graph;
  std::vector<PassRecord> records;  // one per pass that ran
};

/// Runs the passes of `options.names` that are not disabled. Verifies each new graph. Fails with
/// kInvalidArgument for an unknown name, with kInternal if the verifier rejects a result, and with
/// the error of a pass. The message has the name of the pass.
Result<PipelineResult> RunPipeline(const Graph& graph, const PipelineOptions& options = {});

}  // namespace tunec
