// bench_graphs [NODES] [NAME]: measures the scaling of the front end. Each graph, or only the
// graph NAME, passes the pipeline, fusion and lowering with about NODES / 2, NODES and 2 NODES
// nodes. A line for each pass and stage has the milliseconds of the three sizes, and the ratio of
// the last two times: 2 is linear.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "bench/front_end/large_graphs.h"
#include "bench/must.h"
#include "graph/fuse/plan_fusion.h"
#include "graph/lower/lower.h"
#include "graph/passes/pipeline.h"
#include "support/check.h"

namespace tunec::bench {
namespace {

// A stopwatch of this process's processor time, in which other programs do not count.
class Stopwatch {
 public:
  double Milliseconds() const {
    return 1e3 * static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
  }

 private:
  std::clock_t start_ = std::clock();
};

struct Stages {
  std::vector<std::string> names;
  std::vector<double> milliseconds;
  void Add(std::string name, double time) {
    names.push_back(std::move(name));
    milliseconds.push_back(time);
  }
};

Stages Measure(const Graph& graph) {
  Stages stages;
  const Stopwatch all;
  Graph current = graph;
  double checks = 0;
  for (const std::string& name : DefaultPipeline()) {
    const auto pass = std::ranges::find(AllPasses(), name, &NamedPass::name);
    const Stopwatch time;
    Graph next = Must(pass->run(current, {}));
    stages.Add(name, time.Milliseconds());
    const Stopwatch verifying;
    const Status verified = next.IsSameObject(current) ? Status() : Verify(next);
    TUNEC_CHECK(verified.has_value(), "{}", verified.error().Format());
    checks += verifying.Milliseconds();
    current = std::move(next);
  }
  stages.Add("verify", checks);
  const Stopwatch fusion;
  const FusionPlan plan = Must(PlanFusion(current, FusionMode::kFused, FusionMachine()));
  stages.Add("fuse", fusion.Milliseconds());
  const Stopwatch lowering;
  for (const FusionGroup& group : plan.groups)
    Must(Lower(current, group, plan.machine, Transforms::kAccurate));
  stages.Add("lower", lowering.Milliseconds());
  stages.Add(fmt::format("all ({} nodes, {} groups)", current.nodes().size(), plan.groups.size()),
             all.Milliseconds());
  return stages;
}

void Report(const LargeGraph& large, int64_t nodes) {
  std::vector<Stages> sizes;
  for (const int64_t size : {nodes / 2, nodes, 2 * nodes})
    sizes.push_back(Measure(large.make(size)));
  fmt::print("{}\n  {:<40} {:>9} {:>9} {:>9}   x\n", large.name, "nodes", nodes / 2, nodes,
             2 * nodes);
  for (size_t s = 0; s < sizes[1].names.size(); ++s) {
    const double before = sizes[1].milliseconds[s], after = sizes[2].milliseconds[s];
    fmt::print("  {:<40} {:9.1f} {:9.1f} {:9.1f} {:5.1f}\n", sizes[1].names[s],
               sizes[0].milliseconds[s], before, after, after / before);
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace tunec::bench

int main(int argc, char** argv) {
  const int64_t nodes = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 20000;
  const std::string requested = argc > 2 ? argv[2] : "";
  if (nodes < 100) {
    fmt::print(stderr, "usage: bench_graphs [NODES, at least 100] [NAME]\n");
    return 2;
  }
  for (const tunec::bench::LargeGraph& large : tunec::bench::LargeGraphs())
    if (requested.empty() || requested == large.name) tunec::bench::Report(large, nodes);
}
