#include "tools/commands/explain_miss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "autotune/best_schedule.h"
#include "autotune/key_parts.h"
#include "autotune/keys.h"
#include "autotune/near_keys.h"
#include "autotune/task.h"
#include "compiler/front_end.h"
#include "compiler/tuning/tasks.h"
#include "tools/options/model_options.h"
#include "tools/terminal/visible_text.h"

namespace tunec {
namespace {

// The state of one group: its trials under the key that is looked up, or the reason for a miss.
struct GroupState {
  int64_t trials = 0;
  bool tuned = false;
  std::string reason;  // empty if tuned
};

KeyUse UseOf(const TuningKey& key) {
  return {.target = key.target, .policy = key.policy, .schedule_version = key.schedule_version};
}

// Returns "threads=2 there, threads=1 here", with at most three other keys, those with the most
// trials first.
Result<std::string> DescribeOtherKeys(const Database& database, const TuningKey& key,
                                      const std::vector<TuningKey>& others) {
  constexpr size_t kMost = 3;
  std::vector<std::pair<int64_t, std::string>> uses;
  for (const TuningKey& other : others) {
    const KeyDifference parts = Compare(UseOf(other), UseOf(key));
    TUNEC_ASSIGN(const int64_t trials, database.CountTrials(other));
    const bool same = parts.there.empty() && parts.here.empty();
    uses.emplace_back(-trials, same ? "the workload's text of an earlier version"
                                    : fmt::format("{} there, {} here",
                                                  parts.there.empty() ? "nothing" : parts.there,
                                                  parts.here.empty() ? "nothing" : parts.here));
  }
  std::ranges::sort(uses);
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(uses.size(), kMost); ++i) texts.push_back(uses[i].second);
  if (uses.size() > kMost) texts.push_back(fmt::format("{} more", uses.size() - kMost));
  return fmt::format("tuned for other options: {}", fmt::join(texts, "; "));
}

Result<GroupState> StateOf(const Database& database, const TuningTask& task,
                           const CompileOptions& options) {
  const TuningKey key = MakeTuningKey(task, options.target, options.accuracy);
  GroupState state;
  TUNEC_ASSIGN(state.trials, database.CountTrials(key));
  TUNEC_ASSIGN(ScheduleRanking ranking, ScheduleRanking::Of(&database, task,
                                                            {.target = options.target,
                                                             .device = options.device.name,
                                                             .accuracy = options.accuracy,
                                                             .sketches = options.sketches}));
  const std::optional<RankedSchedule> first = ranking.Next();
  state.tuned = first && IsMeasured(*first);
  if (state.tuned) return state;
  if (first && first->predicted) {
    state.reason = "only predicted times";
    return state;
  }
  TUNEC_ASSIGN(const std::vector<TuningKey> others,
               FindOtherKeys(database, key, KnownTexts(key, EarlierWorkloadText(task))));
  if (!others.empty()) {
    TUNEC_ASSIGN(state.reason, DescribeOtherKeys(database, key, others));
  } else if (state.trials > 0) {
    state.reason = "no recorded schedule is correct and still applies";
  } else {
    state.reason = "never tuned with these shapes and types";
  }
  return state;
}

}  // namespace

Status ExplainMisses(const Database& database, const Settings& settings, const std::string& model,
                     OutputForm form) {
  TUNEC_ASSIGN(const CompileOptions options, MakeCompileOptions(settings));
  TUNEC_ASSIGN(const Graph graph, LoadModel(model, settings));
  TUNEC_ASSIGN(const FrontReport front, RunFrontEnd(graph, options));
  TextTable table({{"group"},
                   {"trials", Align::kRight},
                   {"tuned", Align::kLeft, "", ColumnVisibility::kInJson},
                   {"why no tuned schedule is found", Align::kLeft, "reason"}});
  const ModelTasks tasks = CollectTasks(front, options.target);
  int64_t tuned = 0;
  for (const TuningTask& task : tasks.unique) {
    TUNEC_ASSIGN(const GroupState state, StateOf(database, task, options));
    tuned += state.tuned ? 1 : 0;
    table.AddRow({VisibleText(task.description),
                  CountCell(state.trials),
                  {state.tuned ? "yes" : "no", state.tuned},
                  state.tuned ? Cell("", nullptr) : Cell(VisibleText(state.reason))});
  }
  TableReport report(form);
  report.Add("groups", table,
             fmt::format("\n{} of {} distinct groups are tuned\n", tuned, tasks.unique.size()));
  report.Finish();
  return {};
}

}  // namespace tunec
