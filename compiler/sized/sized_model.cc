#include "compiler/sized/sized_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/sized/sized_graph.h"
#include "compiler/sized/worth_joining.h"
#include "compiler/weights/shared_packed_weights.h"
#include "device/open_device.h"
#include "graph/cost/fusion_machine.h"
#include "runtime/thread_pool.h"

namespace tunec {
namespace {

// Returns the maximum number of cached executables. If runs are not split, each batch size may
// occur with each length.
size_t MostVariants(const SizedOptions& options) {
  return options.most_variants.value_or(options.compile.target.device ? 96 : 48);
}

/// Returns the device number of executables with these options; none for a processor. Also returns
/// none if the device cannot be opened. Compile then returns the error.
std::optional<int> DeviceNumberOf(const CompileOptions& options) {
  if (!options.target.device) return std::nullopt;
  ThreadPool pool(1);
  const auto device = OpenDevice(options.target, pool, PerfMap::kOff, options.device);
  return device ? (*device)->Number() : std::nullopt;
}

// Lists the powers of two up to kMost for separable dimensions without listed sizes. Code for these
// sizes also serves smaller sizes.
void ListPowersOfTwo(SizedForm& form) {
  constexpr int64_t kMost = 256;
  for (size_t d = 0; d < form.dimensions.size(); ++d) {
    if (!form.separable[d] || !form.listed[d].sizes.empty()) continue;
    form.listed[d].exact = false;
    for (int64_t size = 1; size <= kMost; size *= 2) form.listed[d].sizes.push_back(size);
  }
}

/// Returns true if the error may come from the graph of rounded-up sizes. Such a graph may be
/// invalid although the graph of the run's sizes is valid: a size may have to be even.
bool IsOfGraph(const Error& error) {
  return error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kParse;
}

/// Checks that the cache can store the executables of all listed combinations. The combinations are
/// counted before they are made, because memory may not have room for all combinations of long
/// lists.
Status CheckCount(const std::vector<ListedSizes>& listed, size_t most) {
  Sizes each;
  size_t count = 1;
  for (const ListedSizes& one : listed) {
    const size_t sizes = one.exact ? one.sizes.size() : 0;
    each.push_back(static_cast<int64_t>(sizes));
    if (__builtin_mul_overflow(count, sizes, &count)) count = SIZE_MAX;
  }
  if (count <= most) return {};
  return Fail(ErrorCode::kResourceLimit,
              "the listed sizes, {} of them, make {} executables, expected at most {}",
              JoinSizes(each), count, most);
}

}  // namespace

SizedModel::SizedModel(SizedSource source, SizedOptions options, std::unique_ptr<Database> database)
    : SizedExecutable(MostVariants(options)),
      source_(std::move(source)),
      options_(std::move(options)),
      database_(std::move(database)) {}

Result<std::unique_ptr<SizedModel>> SizedModel::Make(SizedSource source, SizedOptions options,
                                                     std::unique_ptr<Database> database) {
  if (options.compile.packed_weights == nullptr)
    options.compile.packed_weights = std::make_shared<SharedPackedWeights>();
  std::unique_ptr<SizedModel> model(
      new SizedModel(std::move(source), std::move(options), std::move(database)));
  model->device_number_ = DeviceNumberOf(model->options_.compile);
  TUNEC_RETURN_IF_ERROR(model->Learn());
  TUNEC_RETURN_IF_ERROR(model->CompileListed());
  // The receivers of these callbacks exist only during this call.
  CompileOptions& compile = model->options_.compile;
  compile.on_progress = nullptr;
  compile.on_log = nullptr;
  compile.on_detail = nullptr;
  compile.cancelled = nullptr;
  if (model->database_) model->database_->ContinueWithoutFile([](const std::string&) {});
  return model;
}

Status SizedModel::Learn() {
  TUNEC_ASSIGN(learnt_, LearnForm(source_, options_.listed));
  const auto& on_log = options_.compile.on_log;
  if (on_log) std::ranges::for_each(learnt_.notes, on_log);
  if (on_log && !learnt_.rejection.empty())
    on_log(fmt::format("each size is compiled for itself: {}", learnt_.rejection));
  if (options_.compile.target.device) ListPowersOfTwo(learnt_.form);
  SetForm(std::move(learnt_.form));
  return {};
}

Status SizedModel::CompileListed() {
  TUNEC_RETURN_IF_ERROR(CheckCount(form().listed, MostVariants(options_)));
  std::vector<Sizes> all = {{}};
  for (const ListedSizes& listed : form().listed) {
    std::vector<Sizes> longer;
    for (const Sizes& begun : all) {
      for (const int64_t size : listed.exact ? listed.sizes : Sizes())
        longer.emplace_back(begun).push_back(size);
    }
    all = std::move(longer);
  }
  for (const Sizes& sizes : all) {
    const Result<VariantPtr> variant = VariantFor(sizes);
    // The model may have no graph at sizes for which a condition is false.
    const bool is_skipped =
        !variant && IsOfGraph(variant.error()) && FindFailed(form().conditions, sizes) != nullptr;
    if (!variant && !is_skipped) return std::unexpected(variant.error());
  }
  return {};
}

// On the host without listed sizes, splits into powers of two up to the number of runs that is
// worth joining. On a device, splits only runs above the largest listed size. There a few more
// elements take hardly longer, but a second run does. So the remainder is later rounded up to a
// listed size.
Result<Sizes> SizedModel::CutOf(size_t dimension, const Sizes& sizes) const {
  const Sizes& listed = form().listed[dimension].sizes;
  if (options_.compile.target.device) {
    Sizes cut(static_cast<size_t>((sizes[dimension] - 1) / listed.back()), listed.back());
    cut.push_back(sizes[dimension] - listed.back() * static_cast<int64_t>(cut.size()));
    return cut;
  }
  if (!listed.empty()) return SizedExecutable::CutOf(dimension, sizes);
  TUNEC_ASSIGN(const int64_t most, Joined(dimension, KeyFor(form(), sizes).sizes));
  Sizes parts;
  for (int64_t part = 1; part <= most; part *= 2) parts.push_back(part);
  return CutSize(sizes[dimension], parts);
}

// Does not lock mutex_ while the source makes a graph. The source may wait for a thread that waits
// for mutex_, for example in Report with Python's lock.
Result<int64_t> SizedModel::Joined(size_t dimension, Sizes sizes) const {
  sizes[dimension] = 1;
  const std::pair key(dimension, std::move(sizes));
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = joined_.find(key); known != joined_.end()) return known->second;
  }
  TUNEC_ASSIGN(const std::optional<Graph> graph, source_.GraphIfAny(key.second));
  const auto machine = FusionMachineOf(options_.compile.target);
  const int64_t joined = graph ? WorthJoining(*graph, SharedInputs(*graph, dimension), machine) : 1;
  const std::lock_guard lock(mutex_);
  return joined_.try_emplace(key, joined).first->second;
}

std::vector<ValueId> SizedModel::SharedInputs(const Graph& graph, size_t dimension) const {
  std::vector<ValueId> shared = graph.inputs();
  for (const SizedAxis& axis : form().open)
    if (static_cast<size_t>(axis.dimension) == dimension)
      std::erase(shared, graph.inputs()[static_cast<size_t>(axis.input)]);
  return shared;
}

Result<SizedModel::VariantPtr> SizedModel::Compile(const SizedKey& key) const {
  TUNEC_ASSIGN(SizedGraph graph, GraphFor(source_, learnt_, key));
  TUNEC_ASSIGN(const CompiledModel model,
               tunec::Compile(graph.graph, database_.get(), options_.compile));
  TUNEC_RETURN_IF_ERROR(
      CheckCode(form(), graph.code, model.executable->Inputs(), model.executable->Outputs()));
  const std::lock_guard lock(mutex_);
  ++compiled_;
  return std::make_shared<const SizedVariant>(shared_form(), std::move(graph.code),
                                              model.executable);
}

Result<SizedModel::VariantPtr> SizedModel::VariantFor(const Sizes& sizes) const {
  const SizedKey exact = ExactKey(sizes);
  SizedKey key = KeyFor(form(), sizes);
  {
    const std::lock_guard lock(mutex_);
    if (rejected_.contains(key)) key = exact;
  }
  if (key != exact) {
    Result<VariantPtr> variant = FindOrMake(key, [&] { return Compile(key); });
    if (!variant && !IsOfGraph(variant.error())) return variant;
    if (variant && (*variant)->code().Serves(sizes)) return variant;
    const std::lock_guard lock(mutex_);
    if (!variant) rejected_[key] = variant.error().message;
  }
  Result<VariantPtr> variant = FindOrMake(exact, [&] { return Compile(exact); });
  const SizeCheck* const failed = FindFailed(form().conditions, sizes);
  if (variant || !IsOfGraph(variant.error()) || failed == nullptr) return variant;
  return std::unexpected(FailedCondition(form(), *failed, sizes));
}

std::string SizedModel::Report() const {
  nlohmann::json report;
  report["dimensions"] = source_.dimensions;
  if (!learnt_.rejection.empty()) report["refusal"] = learnt_.rejection;
  report["executables"] = nlohmann::json::array();
  for (const auto& [key, variant] : CachedVariants()) {
    const MemoryUse memory = variant->executable().Memory();
    report["executables"].push_back({{"sizes", key.sizes},
                                     {"open", key.open},
                                     {"constant_bytes", memory.constants},
                                     {"context_bytes", memory.per_context * memory.contexts}});
  }
  // Constants of all executables; shared constants are counted once.
  report["constant_bytes"] = options_.compile.packed_weights->constants()->Bytes();
  const std::lock_guard lock(mutex_);
  report["compiled"] = compiled_;
  for (const auto& [key, why] : rejected_)
    report["refused"].push_back({{"sizes", key.sizes}, {"why", why}});
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tunec
