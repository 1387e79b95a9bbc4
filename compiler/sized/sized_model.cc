#include "compiler/sized/sized_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/report_json.h"
#include "compiler/shared_packings.h"
#include "compiler/sized/choose_sizes.h"
#include "graph/cost/fusion_machine.h"
#include "support/check.h"

namespace tunec {
namespace {

constexpr int64_t kMostWithMemory = 4;

std::vector<TensorSpec> SpecsOf(const Graph& graph, const std::vector<ValueId>& values,
                                const std::vector<std::string>* names) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = graph.value(values[i]);
    specs.push_back(
        {names == nullptr ? value.name : (*names)[i], value.type.type, value.type.Shape()});
  }
  return specs;
}

size_t BytesOf(const TensorSpec& spec, const Shape& shape) {
  return static_cast<size_t>(ElementCount(shape)) * SizeOf(spec.type);
}

/// The inputs of a run, of which those that lie where an output lies are copied aside.
class CopiedInputs {
 public:
  explicit CopiedInputs(std::span<const void* const> inputs)
      : data_(inputs.begin(), inputs.end()) {}
  CopiedInputs(const std::vector<TensorSpec>& specs, std::span<const Shape> shapes,
               std::span<const void* const> inputs, const std::vector<TensorSpec>& result_specs,
               const std::vector<Shape>& result_shapes, std::span<void* const> outputs)
      : CopiedInputs(inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto* begin = static_cast<const std::byte*>(inputs[i]);
      const std::byte* end = begin + BytesOf(specs[i], shapes[i]);
      for (size_t o = 0; o < outputs.size(); ++o) {
        const auto* other = static_cast<const std::byte*>(outputs[o]);
        const bool overlap =
            std::less<>()(begin, other + BytesOf(result_specs[o], result_shapes[o])) &&
            std::less<>()(other, end);
        if (!overlap || data_[i] != inputs[i]) continue;
        data_[i] = copies_.emplace_back(begin, end).data();
      }
    }
  }

  std::span<const void* const> data() const { return data_; }

 private:
  std::vector<const void*> data_;
  std::list<std::vector<std::byte>> copies_;
};

}  // namespace

Result<std::unique_ptr<SizedModel>> SizedModel::Make(SizedSource source, SizedOptions options,
                                                     std::unique_ptr<Database> database) {
  options.listed.resize(source.dimensions.size());
  if (options.compile.packings == nullptr)
    options.compile.packings = std::make_shared<SharedPackings>();
  std::unique_ptr<SizedModel> model(
      new SizedModel(std::move(source), std::move(options), std::move(database)));
  TUNEC_RETURN_IF_ERROR(model->Learn());
  TUNEC_RETURN_IF_ERROR(model->CompileListed());
  // Whom they tell is there during this call alone.
  CompileOptions& compile = model->options_.compile;
  compile.on_progress = nullptr;
  compile.on_log = nullptr;
  compile.on_detail = nullptr;
  compile.cancelled = nullptr;
  return model;
}

Status SizedModel::Learn() {
  TUNEC_ASSIGN(const Graph example, source_.graph_at(source_.example));
  inputs_ = SpecsOf(example, example.inputs(), nullptr);
  outputs_ = SpecsOf(example, example.outputs(), &example.output_names());
  for (const OpenAxis& axis : source_.open) inputs_[axis.input].shape[axis.axis] = -1;
  Result<SizedShape> shape = LearnShape(source_);
  if (!shape) {
    refusal_ = shape.error().message;
    if (options_.compile.on_log)
      options_.compile.on_log(fmt::format("each size is compiled for itself: {}", refusal_));
    separable_.assign(source_.dimensions.size(), false);
    return LearnOutputs(example);
  }
  separable_ = shape->separable;
  form_ = std::make_shared<const OutputForm>(std::move(shape->outputs));
  for (size_t o = 0; o < outputs_.size(); ++o) {
    for (size_t a = 0; a < (*form_)[o].size(); ++a) {
      if (!std::ranges::all_of((*form_)[o][a], &SizeFormula::IsConstant)) outputs_[o].shape[a] = -1;
    }
  }
  return {};
}

// Without formulas: what differs at other sizes is open.
Status SizedModel::LearnOutputs(const Graph& example) {
  for (size_t d = 0; d < source_.dimensions.size(); ++d) {
    Sizes sizes = source_.example;
    ++sizes[d];
    const Result<Graph> other = source_.graph_at(sizes);
    if (!other || other->outputs().size() != example.outputs().size()) continue;
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const Shape small = example.value(example.outputs()[o]).type.Shape();
      const Shape large = other->value(other->outputs()[o]).type.Shape();
      for (size_t a = 0; a < std::min(small.size(), large.size()); ++a) {
        if (small[a] != large[a]) outputs_[o].shape[a] = -1;
      }
    }
  }
  return {};
}

Status SizedModel::CompileListed() {
  std::vector<Sizes> all = {{}};
  for (const Sizes& listed : options_.listed) {
    std::vector<Sizes> longer;
    for (const Sizes& begun : all) {
      for (const int64_t size : listed) {
        longer.push_back(begun);
        longer.back().push_back(size);
      }
    }
    all = std::move(longer);
  }
  for (const Sizes& sizes : all) {
    TUNEC_RETURN_IF_ERROR(VariantFor(sizes));
  }
  return {};
}

Result<Sizes> SizedModel::SizesOf(std::span<const Shape> shapes) const {
  if (shapes.size() != inputs_.size())
    return Fail(ErrorCode::kInvalidArgument, "{} inputs, expected {}", shapes.size(),
                inputs_.size());
  Sizes sizes(source_.dimensions.size(), -1);
  for (const OpenAxis& axis : source_.open) {
    const Shape& shape = shapes[axis.input];
    if (shape.size() <= static_cast<size_t>(axis.axis)) continue;
    int64_t& size = sizes[source_.IndexOf(axis.dimension)];
    if (size < 0) size = shape[axis.axis];
    if (size != shape[axis.axis])
      return Fail(ErrorCode::kInvalidArgument,
                  "input {} axis {}, {}, is {}, expected {} as in another input",
                  inputs_[axis.input].name, axis.axis, axis.dimension, shape[axis.axis], size);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Shape& wanted = inputs_[i].shape;
    bool fits = shapes[i].size() == wanted.size();
    for (size_t a = 0; fits && a < wanted.size(); ++a)
      fits = wanted[a] < 0 ? shapes[i][a] >= 1 : shapes[i][a] == wanted[a];
    if (!fits)
      return Fail(ErrorCode::kInvalidArgument, "input {} is {}, expected {}", inputs_[i].name,
                  fmt::join(shapes[i], "x"), fmt::join(wanted, "x"));
  }
  return sizes;
}

bool SizedModel::IsListed(const Sizes& sizes) const {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!std::ranges::binary_search(options_.listed[d], sizes[d])) return false;
  }
  return true;
}

// The next larger sizes; a dimension that is of one of them is not open.
SizedModel::Key SizedModel::KeyFor(const Sizes& sizes) const {
  Key key{sizes, std::vector<bool>(sizes.size(), false)};
  if (form_ == nullptr || IsListed(sizes)) return key;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (separable_[d] && options_.listed[d].empty()) continue;  // cut to what there is
    key.sizes[d] = RoundUpSize(sizes[d], options_.listed[d]);
    const bool is_rounded = options_.listed[d].empty() && key.sizes[d] > kEachSizeUpTo;
    key.open[d] = key.sizes[d] != sizes[d] || is_rounded;
  }
  return key;
}

// The sizes that a cut dimension is cut into, ascending.
std::vector<int64_t> SizedModel::PartsOf(size_t dimension, const Sizes& sizes) const {
  if (!options_.listed[dimension].empty()) return options_.listed[dimension];
  Key single = KeyFor(sizes);
  single.sizes[dimension] = 1;
  const std::lock_guard lock(mutex_);
  auto [found, is_new] = joined_.try_emplace(single.sizes, 1);
  if (is_new) {
    const Result<Graph> graph = source_.graph_at(single.sizes);
    if (graph) found->second = WorthJoining(*graph, FusionMachineOf(options_.compile.target));
  }
  std::vector<int64_t> parts;
  for (int64_t part = 1; part <= found->second; part *= 2) parts.push_back(part);
  return parts;
}

Result<std::vector<SizedPart>> SizedModel::Cut(const Sizes& sizes) const {
  std::vector<SizedPart> parts = {{sizes, Sizes(sizes.size(), 0), sizes}};
  if (form_ == nullptr || IsListed(sizes)) return parts;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!separable_[d]) continue;
    const std::vector<int64_t> cut = CutSize(sizes[d], PartsOf(d, sizes));
    std::vector<SizedPart> finer;
    for (const SizedPart& part : parts) {
      int64_t begin = 0;
      for (const int64_t size : cut) {
        SizedPart& one = finer.emplace_back(part);
        one.begin[d] = begin;
        one.size[d] = std::min(size, sizes[d] - begin);
        begin += size;
      }
    }
    parts = std::move(finer);
  }
  return parts;
}

SizedModel::VariantPtr SizedModel::Find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = variants_.find(key);
  if (found == variants_.end()) return nullptr;
  NoteUse(found->second);
  return found->second.variant;
}

// With the lock held. Intermediate values are as large as a run, so that few variants keep theirs.
void SizedModel::NoteUse(Kept& kept) const {
  kept.used = ++clock_;
  if (kept.has_memory) return;
  kept.has_memory = true;
  const auto has_memory = [](const auto& each) { return each.second.has_memory; };
  if (std::ranges::count_if(variants_, has_memory) <= kMostWithMemory) return;
  Kept* oldest = &kept;
  for (auto& [key, each] : variants_) {
    if (each.has_memory && each.used < oldest->used) oldest = &each;
  }
  oldest->has_memory = false;
  oldest->variant->FreeIdle();
}

SizedModel::VariantPtr SizedModel::Keep(const Key& key, VariantPtr variant) const {
  const std::lock_guard lock(mutex_);
  ++compiled_;
  Kept& kept = variants_[key] = {.variant = variant, .has_memory = false};
  NoteUse(kept);
  while (variants_.size() > options_.most_variants) {
    variants_.erase(
        std::ranges::min_element(variants_, {}, [](const auto& each) { return each.second.used; }));
  }
  return variant;
}

Result<SizedModel::VariantPtr> SizedModel::CompileFor(const Key& key) const {
  const std::lock_guard one_at_a_time(compiling_);
  if (VariantPtr found = Find(key)) return found;
  SizedGraph graph{{}, key.sizes, {}};
  const bool is_open = std::ranges::find(key.open, true) != key.open.end();
  if (is_open) {
    TUNEC_ASSIGN(graph, PaddedGraphFor(source_, key.sizes, key.open));
  } else {
    TUNEC_ASSIGN(graph.graph, source_.graph_at(key.sizes));
  }
  TUNEC_ASSIGN(VariantPtr variant,
               SizedVariant::Compile(source_, graph, form_, database_.get(), options_.compile));
  return Keep(key, std::move(variant));
}

Result<SizedModel::VariantPtr> SizedModel::VariantFor(const Sizes& sizes) const {
  Key key = KeyFor(sizes);
  Key exact{sizes, std::vector<bool>(sizes.size(), false)};
  {
    const std::lock_guard lock(mutex_);
    if (refused_.contains(key)) key = exact;
  }
  if (VariantPtr found = Find(key)) return found;
  Result<VariantPtr> variant = CompileFor(key);
  if (variant || variant.error().code != ErrorCode::kUnsupported || key == exact) return variant;
  {
    const std::lock_guard lock(mutex_);
    refused_[key] = variant.error().message;
  }
  return CompileFor(exact);
}

Result<std::vector<Shape>> SizedModel::OutputShapes(std::span<const Shape> inputs) const {
  TUNEC_ASSIGN(const Sizes sizes, SizesOf(inputs));
  std::vector<Shape> shapes;
  if (form_ == nullptr) {
    TUNEC_ASSIGN(const VariantPtr variant, VariantFor(sizes));
    for (const TensorSpec& spec : variant->executable().Outputs()) shapes.push_back(spec.shape);
    return shapes;
  }
  for (const auto& axes : *form_) {
    Shape& shape = shapes.emplace_back();
    for (const auto& parts : axes) {
      int64_t& extent = shape.emplace_back(1);
      for (const SizeFormula& part : parts) extent *= static_cast<int64_t>(part.At(sizes));
    }
  }
  return shapes;
}

Status SizedModel::Run(std::span<const Shape> shapes, std::span<const void* const> inputs,
                       std::span<void* const> outputs) const {
  TUNEC_ASSIGN(const Sizes sizes, SizesOf(shapes));
  TUNEC_ASSIGN(const std::vector<SizedPart> parts, Cut(sizes));
  TUNEC_ASSIGN(const std::vector<Shape> results, OutputShapes(shapes));
  // What a part writes must not be what a later one reads.
  const CopiedInputs given = parts.size() > 1
                                 ? CopiedInputs(inputs_, shapes, inputs, outputs_, results, outputs)
                                 : CopiedInputs(inputs);
  for (const SizedPart& part : parts) {
    TUNEC_ASSIGN(const VariantPtr variant, VariantFor(part.size));
    TUNEC_RETURN_IF_ERROR(variant->Run(part, given.data(), outputs));
  }
  return {};
}

const char* SizedModel::Report() const {
  nlohmann::json report;
  report["dimensions"] = source_.dimensions;
  if (!refusal_.empty()) report["refusal"] = refusal_;
  const std::lock_guard lock(mutex_);
  report["compiled"] = compiled_;
  report["executables"] = nlohmann::json::array();
  for (const auto& [key, kept] : variants_) {
    const MemoryUse memory = kept.variant->executable().Memory();
    report["executables"].push_back({{"sizes", key.sizes},
                                     {"open", key.open},
                                     {"constant_bytes", memory.constants},
                                     {"context_bytes", memory.per_context * memory.contexts}});
  }
  // Of all executables, what they share counted once.
  report["constant_bytes"] = options_.compile.packings->constants()->Bytes();
  for (const auto& [key, why] : refused_)
    report["refused"].push_back({{"sizes", key.sizes}, {"why", why}});
  std::string text = report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (reports_.empty() || reports_.back() != text) reports_.push_back(std::move(text));
  return reports_.back().c_str();
}

}  // namespace tunec
