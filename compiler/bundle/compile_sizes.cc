#include "compiler/bundle/compile_sizes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "compiler/bundle/served_sizes.h"
#include "compiler/model_stages.h"
#include "compiler/sized/learn_form.h"
#include "compiler/sized/sized_graph.h"
#include "compiler/weights/shared_packed_weights.h"
#include "compiler/weights/task_packed_weights.h"
#include "jit/cpu/features_used.h"
#include "runtime/bundle/stored_sizes.h"
#include "runtime/executable.h"
#include "runtime/thread_pool.h"

namespace tunec {
namespace {

using Json = nlohmann::ordered_json;

/// A compiler of the plans of one variant, one after another. All plans share a table of kernels.
class SizesCompiler {
 public:
  SizesCompiler(const SizedSource& source, const LearntForm& learnt, Database* database,
                const CompileOptions& options)
      : source_(source),
        learnt_(learnt),
        database_(database),
        options_(options),
        pool_(std::make_shared<ThreadPool>(options.target.host.threads)) {}

  Status Compile(const std::vector<SizedKey>& keys);
  BundleVariant Take(const std::string& cpu);

 private:
  const SizedForm& form() const { return learnt_.form; }
  Status CompileKey(SizedGraph graph);
  /// Returns the requested sizes with a graph that padded code does not serve; at most one more
  /// than kMostForThemselves.
  Result<std::vector<Sizes>> FindNeeded(const SizedCode& code) const;
  /// Compiles padded code, and records the sizes that it does not serve. They get exact code if
  /// they are few.
  Status CompilePadded(SizedGraph graph);
  /// Handles a key for which no padded code can be made. The sizes of a range get exact code. If
  /// no padded dimension has a range, sizes below the key's are reported as rejected.
  Status ServeEach(const SizedKey& key, const Error& why);
  Status CompileThemselves();
  void NoteRejected(const SizedKey& key, std::string_view why);
  Status Account(const SizedCode& code, const StagedModel& staged, ExecutablePlan plan);

  const SizedSource& source_;
  const LearntForm& learnt_;
  Database* const database_;
  const CompileOptions& options_;
  std::shared_ptr<ThreadPool> pool_;
  HostCodeWriter writer_;
  std::set<Sizes> themselves_;  // sizes that need exact code
  std::vector<SizedCode> codes_;
  std::vector<PlanWithData> plans_;
  // Packed weights count as in use while their executable exists. Later plans prefer to use them.
  std::vector<std::shared_ptr<const Executable>> executables_;
  Json reports_ = Json::array();
  Json rejected_ = Json::array();
};

/// Returns whether the key pads a dimension whose sizes are a range.
bool IsOfRange(const SizedForm& form, const SizedKey& key) {
  for (size_t d = 0; d < key.open.size(); ++d)
    if (key.open[d] && !form.listed[d].exact) return true;
  return false;
}

Status SizesCompiler::Compile(const std::vector<SizedKey>& keys) {
  for (const SizedKey& key : keys) {
    Result<SizedGraph> graph = GraphFor(source_, learnt_, key);
    if (graph) {
      TUNEC_RETURN_IF_ERROR(key.IsExact() ? CompileKey(*std::move(graph))
                                          : CompilePadded(*std::move(graph)));
      continue;
    }
    const SizeCheck* failed = FindFailed(form().conditions, key.sizes);
    if (IsCancelled(graph.error()) || (key.IsExact() && failed == nullptr))
      return std::unexpected(graph.error());
    if (!key.IsExact()) TUNEC_RETURN_IF_ERROR(ServeEach(key, graph.error()));
  }
  return CompileThemselves();
}

// If a condition of the form is false, the model may have no graph. After a few sizes without a
// graph, the others count as sizes without a graph, too. The bundle rejects them.
Result<std::vector<Sizes>> SizesCompiler::FindNeeded(const SizedCode& code) const {
  constexpr int kMostTried = 16;
  std::vector<Sizes> needed;
  int without_graph = 0;
  for (Sizes& sizes : FindUnserved(form(), code)) {
    if (FindFailed(form().conditions, sizes) != nullptr) {
      if (without_graph == kMostTried) continue;
      TUNEC_ASSIGN(const std::optional<Graph> graph, source_.GraphIfAny(sizes));
      without_graph += graph ? 0 : 1;
      if (!graph) continue;
    }
    needed.push_back(std::move(sizes));
    if (needed.size() > kMostForThemselves) break;
  }
  return needed;
}

Status SizesCompiler::CompilePadded(SizedGraph graph) {
  const SizedKey key = graph.code.key;
  TUNEC_ASSIGN(const std::vector<Sizes> needed, FindNeeded(graph.code));
  if (needed.size() + themselves_.size() <= kMostForThemselves) {
    themselves_.insert(needed.begin(), needed.end());
    return CompileKey(std::move(graph));
  }
  const SizeCheck* failed = FindFailed(form().conditions, needed[0]);
  if (failed == nullptr) failed = FindFailed(graph.code.conditions, needed[0]);
  if (IsOfRange(form(), key)) return std::unexpected(RangeError(form(), failed->text));
  NoteRejected(key, fmt::format("sizes must fulfil {}", failed->text));
  return CompileKey(std::move(graph));
}

Status SizesCompiler::ServeEach(const SizedKey& key, const Error& why) {
  if (IsOfRange(form(), key)) {
    TUNEC_ASSIGN(const std::vector<Sizes> each,
                 SizesOfRanges(form(), key, kMostForThemselves - themselves_.size(), why.message));
    themselves_.insert(each.begin(), each.end());
    return {};
  }
  NoteRejected(key, why.message);
  return {};
}

void SizesCompiler::NoteRejected(const SizedKey& key, std::string_view why) {
  if (options_.on_log)
    options_.on_log(
        fmt::format("sizes below {} will be rejected: {}", fmt::join(key.sizes, "x"), why));
  rejected_.push_back({{"sizes", key.sizes}, {"why", why}});
}

// Skips sizes at which there is no graph: the bundle rejects them.
Status SizesCompiler::CompileThemselves() {
  for (const Sizes& sizes : themselves_) {
    const SizedKey key = ExactKey(sizes);
    if (std::ranges::find(codes_, key, &SizedCode::key) != codes_.end()) continue;
    TUNEC_ASSIGN(std::optional<Graph> graph, source_.GraphIfAny(sizes));
    if (graph) TUNEC_RETURN_IF_ERROR(CompileKey({*std::move(graph), {.key = key}}));
  }
  return {};
}

Status SizesCompiler::CompileKey(SizedGraph graph) {
  TUNEC_ASSIGN(const StagedModel staged, RunStages(graph.graph, database_, options_));
  TUNEC_ASSIGN(AssembledPlan assembled,
               Assemble(staged.front, staged.groups, options_, *pool_, CodeUse::kStore));
  TUNEC_RETURN_IF_ERROR(PackWeights(assembled, *pool_));
  const ExecutablePlan& plan = assembled.plan;
  const auto number_of = [this](const Step& step, const StepCode& code) {
    return writer_.NumberOf(step, code);
  };
  PlanWithData stored = StoreData(plan);
  TUNEC_ASSIGN(stored.plan.preprocessing,
               WriteSteps(plan.preprocessing, assembled.preprocessing_code, number_of));
  TUNEC_ASSIGN(stored.plan.steps, WriteSteps(plan.steps, assembled.step_code, number_of));
  TUNEC_RETURN_IF_ERROR(CheckCode(form(), graph.code, plan.inputs, plan.outputs));
  plans_.push_back(std::move(stored));
  return Account(codes_.emplace_back(std::move(graph.code)), staged, assembled.plan);
}

// Adds the plan to the report, with the bytes of its constants and of one run's context. Records
// the plan's packed weights, which later plans may share.
Status SizesCompiler::Account(const SizedCode& code, const StagedModel& staged,
                              ExecutablePlan plan) {
  plan.shared = nullptr;  // all shared data is already in the plan
  TUNEC_ASSIGN(Executable made, Executable::Make(std::move(plan), pool_));
  const auto executable = std::make_shared<const Executable>(std::move(made));
  const MemoryUse memory = executable->Memory();
  reports_.push_back({{"sizes", code.key.sizes},
                      {"open", code.key.open},
                      {"constant_bytes", memory.constants},
                      {"context_bytes", memory.per_context}});
  executable->FreeIdle();
  AddPackedWeights(staged, executable, *options_.packed_weights);
  executables_.push_back(executable);
  return {};
}

BundleVariant SizesCompiler::Take(const std::string& cpu) {
  Json report = {{"dimensions", source_.dimensions}};
  if (!learnt_.rejection.empty()) report["refusal"] = learnt_.rejection;
  report["executables"] = std::move(reports_);
  if (!rejected_.empty()) report["refused"] = std::move(rejected_);
  BundleVariant variant{.head = {.cpu = cpu, .features = FeaturesUsed(options_.target.host)}};
  variant.kernels = writer_.TakeKernels();
  variant.image = writer_.image();
  variant.report = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  variant.sizes = PlansWithData{form(), std::move(codes_), std::move(plans_)};
  return variant;
}

/// Returns the keys for which code is needed. Without padding, a range needs exact code for each of
/// its sizes.
Result<std::vector<SizedKey>> KeysFor(const LearntForm& learnt) {
  const SizedForm& form = learnt.form;
  TUNEC_ASSIGN(std::vector<SizedKey> keys, KeysOf(form, bundle::kMostSizedPlans));
  const bool has_range = !std::ranges::all_of(form.listed, &ListedSizes::exact);
  if (form.output_extents || !has_range) return keys;
  std::set<Sizes> all;
  for (const SizedKey& key : keys) {
    TUNEC_ASSIGN(const std::vector<Sizes> each,
                 SizesOfRanges(form, key, kMostForThemselves, learnt.rejection));
    all.insert(each.begin(), each.end());
  }
  keys.clear();
  for (const Sizes& sizes : all) keys.push_back(ExactKey(sizes));
  return keys;
}

}  // namespace

Result<BundleVariant> CompileSizedVariant(const SizedSource& given,
                                          const std::vector<ListedSizes>& listed,
                                          Database* database, CompileOptions options,
                                          const std::string& cpu) {
  if (options.target.device)
    return Fail(ErrorCode::kUnsupported, "a bundle of several sizes is for processors, not for {}",
                options.target.device->name);
  options.packed_weights = std::make_shared<SharedPackedWeights>();
  SizedSource source = given;
  TUNEC_ASSIGN(LearntForm learnt, LearnForm(source, listed));
  if (options.on_log) std::ranges::for_each(learnt.notes, options.on_log);
  if (!learnt.rejection.empty() && options.on_log)
    options.on_log(
        fmt::format("other sizes than those listed will be rejected: {}", learnt.rejection));
  TUNEC_ASSIGN(const std::vector<SizedKey> keys, KeysFor(learnt));
  SizesCompiler compiler(source, learnt, database, options);
  TUNEC_RETURN_IF_ERROR(compiler.Compile(keys));
  return compiler.Take(cpu);
}

}  // namespace tunec
