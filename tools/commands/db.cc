// `tunec db ...` inspects and edits the tuning database.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "autotune/key_parts.h"
#include "autotune/keys.h"
#include "autotune/search/search_space.h"
#include "autotune/tuner.h"
#include "compiler/tuning/tasks.h"
#include "support/hash.h"
#include "tools/commands/commands.h"
#include "tools/commands/db_tables.h"
#include "tools/commands/explain_miss.h"
#include "tools/options/model_options.h"
#include "tools/options/number_checks.h"
#include "tools/options/setting_options.h"
#include "tools/terminal/text_table.h"
#include "tools/terminal/visible_text.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

struct DbArguments {
  Settings settings;  // database, and how models are read
  std::string file;   // file to export, import or merge
  TaskFilter filter;
  std::string workload;                // prefix of a workload's hash
  std::vector<std::string> forgotten;  // prefixes of hashes, or models
  std::vector<std::string> tables;     // files with tables of times to simulate
  std::string output;                  // file of the recorded table
  std::string group = "0";
  int64_t candidates = 2000;
  int64_t trials = 64;
  int64_t seeds = 5;
  int64_t keep_best = 1;
  std::optional<int64_t> older_than_days;
  bool json = false;
  bool trust_times = false;  // imported times were measured on this machine

  TimesFrom Times() const { return trust_times ? TimesFrom::kThisMachine : TimesFrom::kElsewhere; }
};

// Prints why results of the database are missing, such as a damaged record.
void PrintNotes(const Database& database) {
  std::ranges::for_each(database.TakeMissReasons(), PrintNote);
}

Result<Database> OpenAt(const DbArguments& arguments, OpenMode mode) {
  TUNEC_ASSIGN(const std::string path, DatabasePath(arguments.settings.database));
  TUNEC_ASSIGN(Database database, Database::Open(path, mode));
  PrintNotes(database);
  return database;
}

std::string DateText(int64_t unix_seconds) {
  if (unix_seconds == 0) return "-";
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm parts = {};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

/// Returns a cell with the time: UTC in text, seconds since 1970 in JSON. Zero is a missing value.
Cell DateCell(int64_t unix_seconds) {
  if (unix_seconds == 0) return Missing();
  return {DateText(unix_seconds), unix_seconds};
}

std::string WorkloadHash(const TaskSummary& task) { return StableHash(task.key.workload.text); }

// Returns the parts in which the target texts differ, and prints the common parts. A single text is
// returned as a whole. A text without a separate part is shown as "with any accuracy", because
// facts about the machine are stored under a text without an accuracy.
std::vector<std::string> NameTargets(const std::vector<TargetStats>& targets) {
  std::vector<std::string> texts;
  for (const TargetStats& target : targets) texts.push_back(target.target);
  if (texts.size() < 2) return texts;
  DistinctTargets apart = FindDistinctTargets(texts);
  fmt::print("\nall targets: {}\n", VisibleText(apart.common));
  for (std::string& own : apart.own) {
    if (own.empty()) own = "with any accuracy";
  }
  return apart.own;
}

// Returns the number of a target's trials in tasks whose times are predicted and not measured.
int64_t CountPredicted(const std::vector<TaskSummary>& tasks, const std::string& target) {
  int64_t trials = 0;
  for (const TaskSummary& task : tasks) {
    if (task.key.target == target && IsPrediction(task.key.policy)) trials += task.trials;
  }
  return trials;
}

Result<Json> TargetsJson(const Database& database, const DatabaseStats& stats) {
  Json targets = Json::array();
  TUNEC_ASSIGN(const std::vector<TaskSummary> tasks, database.List({}));
  for (const TargetStats& target : stats.targets) {
    Json facts = Json::object();
    TUNEC_ASSIGN(const std::vector<MachineFact> measured, database.MachineFacts(target.target));
    for (const MachineFact& fact : measured) facts[fact.name] = fact.value;
    targets.push_back({{"target", target.target},
                       {"tasks", target.tasks},
                       {"trials", target.trials},
                       {"ok", target.ok},
                       {"predicted", CountPredicted(tasks, target.target)},
                       {"latest", target.latest_at},
                       {"machine_facts", std::move(facts)}});
  }
  return targets;
}

Status PrintStatsJson(const Database& database, const DatabaseStats& stats) {
  TUNEC_ASSIGN(Json targets, TargetsJson(database, stats));
  PrintJson({{"path", stats.path},
             {"schema_version", stats.schema_version},
             {"bytes", stats.file_bytes},
             {"workloads", stats.workloads},
             {"tasks", stats.tasks},
             {"converged", stats.converged},
             {"trials", stats.trials},
             {"ok", stats.ok},
             {"objects", stats.artifacts},
             {"object_bytes", stats.artifact_bytes},
             {"targets", std::move(targets)}});
  return {};
}

Result<int> ShowStats(const DbArguments& arguments) {
  TUNEC_ASSIGN(const Database database, OpenAt(arguments, OpenMode::kReadOnly));
  TUNEC_ASSIGN(const DatabaseStats stats, database.Stats());
  if (arguments.json) {
    TUNEC_RETURN_IF_ERROR(PrintStatsJson(database, stats));
    return kExitOk;
  }
  fmt::print("{}: schema {}, {}\n", stats.path, stats.schema_version,
             BytesText(static_cast<double>(stats.file_bytes)));
  fmt::print("workloads {}, tasks {} ({} converged), trials {} ({} ok), objects {} ({})\n",
             stats.workloads, stats.tasks, stats.converged, stats.trials, stats.ok, stats.artifacts,
             BytesText(static_cast<double>(stats.artifact_bytes)));
  const std::vector<std::string> names = NameTargets(stats.targets);
  TUNEC_ASSIGN(const std::vector<TaskSummary> tasks, database.List({}));
  for (size_t t = 0; t < stats.targets.size(); ++t) {
    const TargetStats& target = stats.targets[t];
    const int64_t predicted = CountPredicted(tasks, target.target);
    fmt::print("\ntarget {}\n  tasks {}, trials {} ({} ok{}), latest {}\n", VisibleText(names[t]),
               target.tasks, target.trials, target.ok,
               predicted > 0 ? fmt::format(", {} of predicted times", predicted) : "",
               DateText(target.latest_at));
    TUNEC_ASSIGN(const std::vector<MachineFact> facts, database.MachineFacts(target.target));
    for (const MachineFact& fact : facts)
      fmt::print("  {} {} ({})\n", VisibleText(fact.name), QuantityText(fact.value),
                 VisibleText(fact.text));
  }
  return kExitOk;
}

// Returns the parts of each task's target text that are not common to all tasks. The texts are
// empty if all tasks have the same target.
std::vector<std::string> TargetsOf(const std::vector<TaskSummary>& tasks) {
  std::vector<std::string> texts;
  for (const TaskSummary& task : tasks) texts.push_back(task.key.target);
  return FindDistinctTargets(texts).own;
}

// Returns the reason for convergence, or `seeds` for trials whose times are not compared.
std::string StateText(const TaskSummary& task) {
  if (HasSeeds(task.key)) return "seeds";
  return task.converged ? "converged: " + Describe(*task.converged) : "";
}

Result<int> ListTasks(const DbArguments& arguments) {
  TUNEC_ASSIGN(const Database database, OpenAt(arguments, OpenMode::kReadOnly));
  TUNEC_ASSIGN(const std::vector<TaskSummary> tasks, database.List(arguments.filter));
  TextTable table({{"workload"},
                   {"kind"},
                   {"description"},
                   {"trials", Align::kRight},
                   {"ok", Align::kRight},
                   {"best", Align::kRight, "best_ms"},
                   {"predicted", Align::kRight, "predicted_ms", ColumnVisibility::kInJson},
                   {"GFLOP/s", Align::kRight, "gflops_per_second"},
                   {"state"},
                   {"latest"},
                   {"target"}});
  const std::vector<std::string> targets = TargetsOf(tasks);
  for (size_t t = 0; t < tasks.size(); ++t) {
    const TaskSummary& task = tasks[t];
    const WorkloadKey& workload = task.key.workload;
    const bool predicted = IsPrediction(task.key.policy);
    const double seconds = task.best ? task.best->median_seconds : 0;
    const double rate = seconds > 0 && !predicted ? workload.flops / seconds / 1e9 : 0;
    const Cell time = task.best ? Cell(DurationText(seconds), 1e3 * seconds) : Missing();
    table.AddRow({{WorkloadHash(task).substr(0, 12), WorkloadHash(task)},
                  workload.kind,
                  workload.description,
                  CountCell(task.trials),
                  CountCell(task.ok),
                  predicted ? Cell(time.text + " predicted", nullptr) : time,
                  predicted ? time : Missing(),
                  rate > 0 ? Cell(fmt::format("{:.1f}", rate), rate) : Missing(),
                  StateText(task),
                  DateCell(task.latest_at),
                  {targets[t], task.key.target}});
  }
  if (arguments.json) {
    PrintJson({{"tasks", table.Json()}});
  } else {
    fmt::print("{}", table.Print());
  }
  return kExitOk;
}

// Returns "1.23 ms +- 10 us" or "predicted 1.23 ms". Requires: the task has a best trial.
std::string TimeOf(const TaskSummary& task) {
  const std::string time = DurationText(task.best->median_seconds);
  if (IsPrediction(task.key.policy)) return "predicted " + time;
  return fmt::format("{} +- {}", time, DurationText(task.best->mad_seconds));
}

Result<int> ShowBest(const DbArguments& arguments) {
  TUNEC_ASSIGN(const Database database, OpenAt(arguments, OpenMode::kReadOnly));
  TUNEC_ASSIGN(const std::vector<TaskSummary> tasks, database.List(arguments.filter));
  int shown = 0;
  for (const TaskSummary& task : tasks) {
    if (!WorkloadHash(task).starts_with(arguments.workload) || !task.best) continue;
    const std::string text =
        fmt::format("# {} {}\n# target {}\n# {}, trial {}, {}\n{}", WorkloadHash(task),
                    task.key.workload.description, task.key.target, TimeOf(task), task.best->id,
                    DateText(task.best->created_at), task.best->schedule);
    fmt::print("{}{}", shown > 0 ? "\n" : "", VisibleText(text));
    if (!task.best->schedule.ends_with('\n')) fmt::print("\n");
    ++shown;
  }
  if (shown > 0) return kExitOk;
  return Fail(ErrorCode::kNotFound, "no tuned workload begins with '{}' in {}", arguments.workload,
              database.Path());
}

// Returns the trials of a task in the order of recording, with the best time after each trial.
TextTable HistoryOf(const std::vector<TrialRecord>& trials) {
  TextTable table({{"trial", Align::kRight},
                   {"date"},
                   {"status"},
                   {"time", Align::kRight, "median_ms"},
                   {"deviation", Align::kRight, "deviation_ms"},
                   {"samples", Align::kRight},
                   {"best", Align::kRight, "best_ms"},
                   {"origin"},
                   {"schedule", Align::kLeft, "", ColumnVisibility::kInJson}});
  std::optional<double> best;
  for (const TrialRecord& trial : trials) {
    const bool ok = trial.status == TrialStatus::kOk;
    if (ok) best = std::min(best.value_or(trial.median_seconds), trial.median_seconds);
    const auto cell = [](double seconds) { return Cell(DurationText(seconds), 1e3 * seconds); };
    table.AddRow(
        {CountCell(trial.id), DateCell(trial.created_at),
         std::string(TrialStatusName(trial.status)), ok ? cell(trial.median_seconds) : Missing(),
         ok ? cell(trial.mad_seconds) : Missing(), CountCell(std::ssize(trial.samples)),
         best ? cell(*best) : Missing(), VisibleText(ParseNote(trial.note)["by"]), trial.schedule});
  }
  return table;
}

Result<int> ShowHistory(const DbArguments& arguments) {
  TUNEC_ASSIGN(const Database database, OpenAt(arguments, OpenMode::kReadOnly));
  TUNEC_ASSIGN(const std::vector<TaskSummary> tasks, database.List(arguments.filter));
  Json histories = Json::array();
  for (const TaskSummary& task : tasks) {
    if (!WorkloadHash(task).starts_with(arguments.workload)) continue;
    TUNEC_ASSIGN(std::vector<TrialRecord> trials, database.Trials(task.key));
    std::ranges::sort(trials, {}, &TrialRecord::id);
    const TextTable table = HistoryOf(trials);
    const WorkloadKey& workload = task.key.workload;
    if (arguments.json) {
      histories.push_back({{"workload", WorkloadHash(task)},
                           {"description", workload.description},
                           {"target", task.key.target},
                           {"policy", task.key.policy},
                           {"trials", table.Json()}});
    } else {
      fmt::print("# {} {}\n# target {}\n# {}\n{}\n", WorkloadHash(task),
                 VisibleText(workload.description), VisibleText(task.key.target),
                 VisibleText(task.key.policy), table.Print());
    }
  }
  if (arguments.json) PrintJson({{"histories", std::move(histories)}});
  return kExitOk;
}

Result<int> ExplainMiss(const DbArguments& arguments) {
  TUNEC_ASSIGN(const Database database, OpenAt(arguments, OpenMode::kReadOnly));
  TUNEC_RETURN_IF_ERROR(ExplainMisses(database, arguments.settings, arguments.file,
                                      arguments.json ? OutputForm::kJson : OutputForm::kText));
  return kExitOk;
}

Result<int> Record(const DbArguments& arguments) {
  return RecordTable(arguments.settings, arguments.file, arguments.group, arguments.output,
                     arguments.candidates);
}

Result<int> Simulate(const DbArguments& arguments) {
  TUNEC_RETURN_IF_ERROR(SimulateTables(arguments.tables, arguments.trials, arguments.seeds,
                                       arguments.json ? OutputForm::kJson : OutputForm::kText));
  return kExitOk;
}

Result<int> ExportTo(const DbArguments& arguments) {
  TUNEC_ASSIGN(const Database database, OpenAt(arguments, OpenMode::kReadOnly));
  TUNEC_RETURN_IF_ERROR(database.ExportFile(arguments.file));
  PrintNotes(database);
  return kExitOk;
}

int PrintCounts(const ExchangeCounts& counts) {
  fmt::print("added {}, replaced {}, kept {}\n", counts.added, counts.replaced, counts.unchanged);
  return kExitOk;
}

Result<int> ImportFrom(const DbArguments& arguments) {
  TUNEC_ASSIGN(Database database, OpenAt(arguments, OpenMode::kReadWrite));
  TUNEC_ASSIGN(const ExchangeCounts counts, database.ImportFile(arguments.file, arguments.Times()));
  PrintNotes(database);
  return PrintCounts(counts);
}

Result<int> MergeWith(const DbArguments& arguments) {
  TUNEC_ASSIGN(Database database, OpenAt(arguments, OpenMode::kReadWrite));
  TUNEC_ASSIGN(const ExchangeCounts counts, database.Merge(arguments.file, arguments.Times()));
  PrintNotes(database);
  return PrintCounts(counts);
}

Result<int> Prune(const DbArguments& arguments) {
  TUNEC_ASSIGN(Database database, OpenAt(arguments, OpenMode::kExisting));
  PrunePolicy policy{.keep_best = arguments.keep_best};
  if (arguments.older_than_days) {
    const auto now =
        std::chrono::system_clock::now() - std::chrono::days(*arguments.older_than_days);
    policy.created_before =
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  }
  TUNEC_ASSIGN(const PruneCounts counts, database.Prune(policy));
  TUNEC_RETURN_IF_ERROR(database.Compact());
  fmt::print("removed {} trials, {} tasks, {} objects\n", counts.trials, counts.tasks,
             counts.artifacts);
  return kExitOk;
}

bool IsModel(const std::string& word) {
  return word.ends_with(".onnx") || word.ends_with(".graph");
}

// Returns the workload texts that both `tasks` and a model's groups have. Fails if there are none.
Result<std::set<std::string>> WorkloadsOfModel(const std::vector<TaskSummary>& tasks,
                                               const Settings& settings, const std::string& model) {
  TUNEC_ASSIGN(const CompileOptions options, MakeCompileOptions(settings));
  TUNEC_ASSIGN(const Graph graph, LoadModel(model, settings));
  TUNEC_ASSIGN(const FrontReport front, RunFrontEnd(graph, options));
  std::set<std::string> of_model, found;
  for (const TuningTask& task : CollectTasks(front, options.target).unique) {
    of_model.insert(WorkloadText(task));
    if (std::optional<std::string> earlier = EarlierWorkloadText(task)) of_model.insert(*earlier);
  }
  for (const TaskSummary& task : tasks) {
    if (of_model.contains(task.key.workload.text)) found.insert(task.key.workload.text);
  }
  if (found.empty()) return Fail(ErrorCode::kNotFound, "no group of {} is in the database", model);
  return found;
}

// Returns the text of the workload whose hash has this prefix. Fails if no workload or several
// workloads have the prefix.
Result<std::string> FindWorkload(const std::vector<TaskSummary>& tasks, const std::string& hash) {
  std::set<std::string> texts;
  for (const TaskSummary& task : tasks) {
    if (WorkloadHash(task).starts_with(hash)) texts.insert(task.key.workload.text);
  }
  if (texts.size() == 1) return *texts.begin();
  if (texts.empty()) return Fail(ErrorCode::kNotFound, "no workload begins with '{}'", hash);
  return Fail(ErrorCode::kInvalidArgument, "{} workloads begin with '{}', expected one",
              texts.size(), hash);
}

Result<int> Forget(const DbArguments& arguments) {
  TUNEC_ASSIGN(Database database, OpenAt(arguments, OpenMode::kReadWrite));
  TUNEC_ASSIGN(const std::vector<TaskSummary> tasks, database.List({}));
  std::set<std::string> texts;
  for (const std::string& word : arguments.forgotten) {
    if (IsModel(word)) {
      TUNEC_ASSIGN(std::set<std::string> of_model,
                   WorkloadsOfModel(tasks, arguments.settings, word));
      texts.merge(of_model);
    } else {
      TUNEC_ASSIGN(std::string text, FindWorkload(tasks, word));
      texts.insert(std::move(text));
    }
  }
  TUNEC_ASSIGN(const PruneCounts counts, database.Forget({texts.begin(), texts.end()}));
  fmt::print("removed {} of {}\n", CountText(counts.trials, "trial"),
             CountText(counts.tasks, "task"));
  return kExitOk;
}

Result<int> Check(const DbArguments& arguments) {
  TUNEC_ASSIGN(const Database database, OpenAt(arguments, OpenMode::kReadOnly));
  TUNEC_ASSIGN(const std::vector<std::string> problems, database.IntegrityCheck());
  for (const std::string& problem : problems) fmt::print("{}\n", problem);
  if (problems.empty()) {
    fmt::print("{}: sound\n", database.Path());
    return kExitOk;
  }
  return Fail(ErrorCode::kParse, "{} is damaged: {} problems", database.Path(), problems.size());
}

void AddFilters(CLI::App& command, DbArguments& arguments) {
  command.add_option("--kind", arguments.filter.kind, "only this kind: matmul, conv, ...")
      ->type_name("NAME");
  command.add_option("--target", arguments.filter.target, "only this target, as stats print it")
      ->type_name("TEXT");
  command.add_option("--limit", arguments.filter.limit, "at most so many")
      ->type_name("N")
      ->check(NotNegative());
}

// Adds `record` and `simulate`, which do not use the database.
void AddTableCommands(CLI::App& db, Invocation& invocation,
                      const std::shared_ptr<DbArguments>& arguments) {
  const auto count = [](int64_t most) { return HideDescription(CLI::Range(int64_t{1}, most)); };
  CLI::App& record = AddSubcommand(db, invocation, "record",
                                   "measure random candidates of one group, and write their times",
                                   arguments, Record);
  record.add_option("MODEL", arguments->file, "an .onnx or .graph file")
      ->required()
      ->type_name("FILE");
  record.add_option("-o,--output", arguments->output, "the table; a part of it is completed")
      ->required()
      ->type_name("FILE");
  record.add_option("--group", arguments->group, "its number, or the name of a node (default 0)")
      ->type_name("GROUP");
  record
      .add_option("--candidates", arguments->candidates,
                  "number beside the analytic schedules (default 2000)")
      ->type_name("N")
      ->check(count(1'000'000));
  AddSettings(record, arguments->settings,
              {"shapes", "dims", "layouts", "constants", "random_weights", "external_data",
               "target", "arch", "gpu", "emulate", "device", "threads", "accuracy", "cpu", "seed",
               "disable_pass", "rules", "fast_math", "worker"});
  CLI::App& simulate =
      AddSubcommand(db, invocation, "simulate",
                    "the errors of searches on tables that record wrote", arguments, Simulate);
  simulate.add_option("TABLE", arguments->tables, "files that record wrote")
      ->required()
      ->type_name("");
  simulate.add_option("--trials", arguments->trials, "of each search (default 64)")
      ->type_name("N")
      ->check(count(1'000'000));
  simulate.add_option("--seeds", arguments->seeds, "number of searches (default 5)")
      ->type_name("N")
      ->check(count(10'000));
  simulate.add_flag("--json", arguments->json, "print JSON");
}

}  // namespace

void AddDbCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<DbArguments>();
  CLI::App* db = root.add_subcommand("db", "look into the tuning database, exchange its contents");
  db->require_subcommand(1);
  AddSetting(*db, arguments->settings, "db");
  const auto add = [&](const char* name, const char* summary,
                       Result<int> (*run)(const DbArguments&)) -> CLI::App& {
    CLI::App& command = AddSubcommand(*db, invocation, name, summary, arguments, run);
    command.fallthrough();
    return command;
  };
  const auto add_file = [&](CLI::App& command, const char* help) {
    command.add_option("FILE", arguments->file, help)->required()->type_name("");
  };
  const auto add_json = [&](CLI::App& command) {
    command.add_flag("--json", arguments->json, "print JSON");
  };
  add_json(add("stats", "what it holds", ShowStats));
  CLI::App& list = add("list", "a line per tuned workload", ListTasks);
  AddFilters(list, *arguments);
  add_json(list);
  CLI::App& best = add("best", "the best schedules", ShowBest);
  best.add_option("WORKLOAD", arguments->workload, "the beginning of a hash that list prints")
      ->type_name("");
  AddFilters(best, *arguments);
  CLI::App& history = add("history", "the trials of workloads, in order", ShowHistory);
  history.add_option("WORKLOAD", arguments->workload, "the beginning of a hash that list prints")
      ->type_name("");
  AddFilters(history, *arguments);
  add_json(history);
  CLI::App& explain =
      add("explain-miss",
          "which groups of a model are not tuned, and which part of the key differs", ExplainMiss);
  explain.add_option("MODEL", arguments->file, "an .onnx or .graph file")
      ->required()
      ->type_name("FILE");
  AddSettings(explain, arguments->settings,
              {"shapes", "dims", "layouts", "constants", "random_weights", "external_data",
               "target", "arch", "gpu", "emulate", "device", "threads", "accuracy", "cpu",
               "disable_pass", "rules", "fast_math"});
  add_json(explain);
  AddTableCommands(*db, invocation, arguments);
  add_file(add("export", "write everything but objects as JSON lines", ExportTo), "to write");
  const auto add_trust = [&](CLI::App& command) {
    command.add_flag("--trust-times", arguments->trust_times,
                     "its times were measured on this machine: compare them with own times");
  };
  CLI::App& import = add("import", "take in JSON lines", ImportFrom);
  add_file(import, "to read");
  add_trust(import);
  CLI::App& merge = add("merge", "take in another database but its objects", MergeWith);
  add_file(merge, "the other database");
  add_trust(merge);
  add("check", "look for damage", Check);
  CLI::App& forget = add(
      "forget", "remove all trials of workloads or models, so that they are tuned anew", Forget);
  forget
      .add_option("WORKLOAD", arguments->forgotten,
                  "the beginning of a hash that list prints, or a model's file, .onnx or .graph")
      ->required()
      ->type_name("");
  AddSettings(forget, arguments->settings,
              {"shapes", "dims", "constants", "random_weights", "external_data", "disable_pass",
               "rules", "fast_math"});
  CLI::App& prune = add("prune", "remove trials but the best", Prune);
  prune.add_option("--keep-best", arguments->keep_best, "of each workload (default 1)")
      ->type_name("N")
      ->check(NotNegative());
  prune.add_option("--older-than-days", arguments->older_than_days, "only those")
      ->type_name("N")
      ->check(HideDescription(CLI::Range(0, 100'000)));
}

}  // namespace tunec
