#include "compiler/sized/sized_variant.h"

#include <algorithm>
#include <cstring>

#include "runtime/copy_box.h"
#include "support/check.h"

namespace tunec {
namespace {

int64_t WholeNumber(const SizeFormula& formula, const Sizes& sizes) {
  return static_cast<int64_t>(formula.At(sizes));
}

/// Whether a box is one run of bytes that begins at its own first element of a target that it
/// fills: then nothing has to be copied.
bool IsContiguous(const BoxPlace& place, const std::vector<int64_t>& box,
                  const std::vector<int64_t>& target) {
  if (target != box) return false;
  size_t a = 0;
  while (a < box.size() && box[a] == 1) ++a;
  for (++a; a < box.size(); ++a) {
    if (box[a] != place.extents[a]) return false;
  }
  return true;
}

/// The address of the box's first element.
int64_t OffsetOf(const BoxPlace& place, size_t element_bytes) {
  int64_t offset = 0;
  for (size_t a = 0; a < place.extents.size(); ++a)
    offset = offset * place.extents[a] + place.begin[a];
  return offset * static_cast<int64_t>(element_bytes);
}
const void* At(const void* data, const BoxPlace& place, size_t element_bytes) {
  return static_cast<const std::byte*>(data) + OffsetOf(place, element_bytes);
}
void* At(void* data, const BoxPlace& place, size_t element_bytes) {
  return static_cast<std::byte*>(data) + OffsetOf(place, element_bytes);
}

}  // namespace

/// Memory of one run: padded inputs, parameters, padded outputs, each made when it is first wanted.
/// What of an input is beyond its exact elements is 0 or what a run before left there: a padded
/// graph's results do not depend on it.
struct SizedVariant::Buffers {
  std::vector<Array> inputs;
  std::vector<Array> outputs;
};

Result<std::shared_ptr<const SizedVariant>> SizedVariant::Compile(
    const SizedSource& source, const SizedGraph& graph, std::shared_ptr<const OutputForm> outputs,
    Database* database, const CompileOptions& options) {
  TUNEC_ASSIGN(CompiledModel model, tunec::Compile(graph.graph, database, options));
  auto variant = std::make_shared<SizedVariant>();
  const std::vector<TensorSpec>& inputs = model.executable->Inputs();
  for (size_t i = 0; i + graph.parameters.size() < inputs.size(); ++i)
    variant->open_.emplace_back(inputs[i].shape.size(), -1);
  for (const OpenAxis& axis : source.open)
    variant->open_[axis.input][axis.axis] = static_cast<int>(source.IndexOf(axis.dimension));
  variant->sizes_ = graph.sizes;
  variant->parameters_ = graph.parameters;
  variant->outputs_ = std::move(outputs);
  variant->executable_ = std::move(model.executable);
  variant->report_ = std::move(model.report);
  return variant;
}

std::unique_ptr<SizedVariant::Buffers> SizedVariant::TakeBuffers() const {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    auto buffers = std::make_unique<Buffers>();
    buffers->inputs.resize(executable_->Inputs().size());
    buffers->outputs.resize(executable_->Outputs().size());
    return buffers;
  }
  auto buffers = std::move(free_.back());
  free_.pop_back();
  return buffers;
}

void SizedVariant::GiveBack(std::unique_ptr<Buffers> buffers) const {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(buffers));
}

void SizedVariant::FreeIdle() const {
  executable_->FreeIdle();
  const std::lock_guard lock(mutex_);
  free_.clear();
}

const void* SizedVariant::PutInput(const SizedPart& part, size_t i, const void* data,
                                   Buffers& buffers) const {
  const TensorSpec& spec = executable_->Inputs()[i];
  BoxPlace source{spec.shape, std::vector<int64_t>(spec.shape.size(), 0)};
  std::vector<int64_t> box = spec.shape;
  for (size_t a = 0; a < box.size(); ++a) {
    const int dimension = open_[i][a];
    if (dimension < 0) continue;
    source.extents[a] = part.whole[dimension];
    source.begin[a] = part.begin[dimension];
    box[a] = part.size[dimension];
  }
  const size_t width = SizeOf(spec.type);
  if (IsContiguous(source, box, spec.shape)) return At(data, source, width);
  Array& padded = buffers.inputs[i];
  if (padded.data() == nullptr) padded = Array(spec.type, spec.shape);
  const BoxPlace target{spec.shape, std::vector<int64_t>(spec.shape.size(), 0)};
  CopyBox(data, source, padded.mutable_data(), target, box, width);
  return padded.data();
}

void SizedVariant::SetParameters(const Sizes& sizes, Buffers& buffers) const {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const SizedParameter& parameter = parameters_[p];
    Array& array = buffers.inputs[open_.size() + p];
    if (array.data() == nullptr) array = Array(parameter.type, parameter.shape);
    for (int64_t e = 0; e < array.size(); ++e)
      array.SetDouble(e, parameter.elements[static_cast<size_t>(e)].At(sizes));
  }
}

namespace {

/// The box of an output that a run makes: where it lies in the variant's, and in the caller's.
struct OutputBox {
  BoxPlace padded;
  BoxPlace whole;
  std::vector<int64_t> box;

  OutputBox(const std::vector<std::vector<SizeFormula>>& axes, const Sizes& sizes,
            const SizedPart& run) {
    for (const auto& parts : axes) {
      for (const SizeFormula& part : parts) {
        const int dimension = part.dimension();
        padded.extents.push_back(WholeNumber(part, sizes));
        padded.begin.push_back(0);
        box.push_back(WholeNumber(part, run.size));
        whole.extents.push_back(dimension < 0 ? box.back() : run.whole[dimension]);
        whole.begin.push_back(dimension < 0 ? 0 : run.begin[dimension]);
      }
    }
  }
  /// Whether the variant may write into the caller's array.
  bool IsInPlace() const { return IsContiguous(whole, box, padded.extents); }
};

}  // namespace

Status SizedVariant::Run(const SizedPart& part, std::span<const void* const> inputs,
                         std::span<void* const> outputs) const {
  if (outputs_ == nullptr) return executable_->Run(inputs, outputs);
  std::unique_ptr<Buffers> buffers = TakeBuffers();
  SetParameters(part.size, *buffers);
  std::vector<const void*> from;
  for (size_t i = 0; i < inputs.size(); ++i) from.push_back(PutInput(part, i, inputs[i], *buffers));
  for (size_t i = inputs.size(); i < buffers->inputs.size(); ++i)
    from.push_back(buffers->inputs[i].data());
  std::vector<void*> to;
  std::vector<OutputBox> boxes;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const TensorSpec& spec = executable_->Outputs()[o];
    const OutputBox& box = boxes.emplace_back((*outputs_)[o], sizes_, part);
    Array& padded = buffers->outputs[o];
    if (box.IsInPlace()) {
      to.push_back(At(outputs[o], box.whole, SizeOf(spec.type)));
      continue;
    }
    if (padded.data() == nullptr) padded = Array(spec.type, spec.shape);
    to.push_back(padded.mutable_data());
  }
  const Status status = executable_->Run(from, to);
  for (size_t o = 0; status && o < outputs.size(); ++o) {
    if (boxes[o].IsInPlace()) continue;
    CopyBox(to[o], boxes[o].padded, outputs[o], boxes[o].whole, boxes[o].box,
            SizeOf(executable_->Outputs()[o].type));
  }
  GiveBack(std::move(buffers));
  return status;
}

}  // namespace tunec
