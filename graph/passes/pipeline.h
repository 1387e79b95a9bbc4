// The passes in order. Only the pipeline verifies, times and shows what a pass did; passes
// themselves do nothing but their rewrite.
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
  std::string_view summary;  // one line, for --help
  Result<Graph> (*run)(const Graph&, const PassOptions&);
};

/// Every pass, each once.
std::span<const NamedPass> AllPasses();
/// The names of the default pipeline in order; some come several times.
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
  /// Called after each pass that changed the graph.
  std::function<void(const PassRecord&, const Graph& before, const Graph& after)> on_change;
};

struct PipelineResult {
  Graph graph;
  std::vector<PassRecord> records;  // of the passes that ran
};

/// Runs the passes; each result is verified, and an error names the pass.
/// Errors: kInvalidArgument for an unknown name; kInternal when a pass breaks the graph.
Result<PipelineResult> RunPipeline(const Graph& graph, const PipelineOptions& options = {});

}  // namespace tunec
