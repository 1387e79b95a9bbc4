#include "runtime/sized/sized_variant.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "ir/rounding.h"
#include "runtime/buffer.h"
#include "runtime/copy_slice.h"
#include "support/check.h"

namespace tunec {
namespace {

/// Returns true if a tensor of extents `target` needs no copy: it has the extents of the slice, and
/// the slice is contiguous in the caller's array `place`.
bool IsContiguous(const SlicePosition& place, const std::vector<int64_t>& slice,
                  const std::vector<int64_t>& target) {
  if (target != slice) return false;
  size_t a = 0;
  while (a < slice.size() && slice[a] == 1) ++a;
  for (++a; a < slice.size(); ++a) {
    if (slice[a] != place.extents[a]) return false;
  }
  return true;
}

bool IsEmpty(const std::vector<int64_t>& slice) {
  return std::ranges::find(slice, 0) != slice.end();
}

/// Returns the copy of an output's slice from the code's array to the caller's array. Fails with
/// kParse if the programs give a slice that is not inside both arrays.
Result<SliceCopy> OutputSliceOf(const std::vector<std::vector<SizeProgram>>& axes,
                                const Sizes& sizes, const SizedPart& run) {
  SliceCopy made;
  for (const auto& parts : axes) {
    for (const SizeProgram& part : parts) {
      const std::optional<size_t> dimension = part.AsSize();
      const int64_t padded = part.ExtentAt(sizes).value_or(-1);
      const int64_t whole = part.ExtentAt(run.whole).value_or(-1);
      const int64_t size = part.ExtentAt(run.size).value_or(-1);
      const int64_t begin = dimension ? run.begin[*dimension] : 0;
      // The position of a part is known only along an axis that is one dimension. Any other axis
      // must have the same extent in the part and in the complete run.
      const bool lies = dimension || size == whole;
      if (size < 0 || size > padded || begin + size > whole || !lies)
        return Fail(ErrorCode::kParse, "{} elements of {} are not within {} from {} on", size,
                    padded, whole, begin);
      made.source.extents.push_back(padded);
      made.source.begin.push_back(0);
      made.target.extents.push_back(whole);
      made.target.begin.push_back(begin);
      made.slice.push_back(size);
    }
  }
  return made;
}

std::unexpected<Error> Unlike(std::string_view what, const TensorSpec& spec) {
  return Fail(ErrorCode::kParse, "{} '{}', {}, is none of this model's at these sizes", what,
              spec.name, FormatType(spec));
}

Status CheckInputs(const SizedForm& form, const Sizes& sizes, std::span<const TensorSpec> inputs) {
  std::vector<TensorSpec> wanted = form.inputs;
  for (const SizedAxis& axis : form.open)
    wanted[axis.input].shape[axis.axis] = sizes[axis.dimension];
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (inputs[i].type != wanted[i].type || inputs[i].shape != wanted[i].shape)
      return Unlike("input", inputs[i]);
  }
  return {};
}

// Exact code for sizes at which a condition is false may have outputs of other sizes than the form.
Status CheckOutputs(const SizedForm& form, const SizedKey& key,
                    std::span<const TensorSpec> outputs) {
  const bool follows = !key.IsExact() || CanPad(form, key.sizes);
  std::vector<std::vector<int64_t>> shapes;
  if (follows && form.output_extents) {
    TUNEC_ASSIGN(shapes, ShapesAt(form, key.sizes));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    const auto fits = [](int64_t given, int64_t wanted) { return wanted < 0 || given == wanted; };
    const TensorSpec& wanted = form.outputs[o];
    if (outputs[o].type != wanted.type ||
        !std::ranges::equal(outputs[o].shape, wanted.shape, fits) ||
        (!shapes.empty() && outputs[o].shape != shapes[o]))
      return Unlike("output", outputs[o]);
  }
  return {};
}

}  // namespace

Status CheckCode(const SizedForm& form, const SizedCode& code, std::span<const TensorSpec> inputs,
                 std::span<const TensorSpec> outputs) {
  const size_t given = form.inputs.size();
  const Sizes& sizes = code.key.sizes;
  if (sizes.size() != form.dimensions.size() || code.key.open.size() != sizes.size() ||
      std::ranges::any_of(sizes, [](int64_t size) { return size < 1; }))
    return Fail(ErrorCode::kParse, "code is for {} sizes, expected {}", sizes.size(),
                form.dimensions.size());
  if (inputs.size() != given + code.parameters.size() || outputs.size() != form.outputs.size())
    return Fail(ErrorCode::kParse, "code has {} inputs and {} outputs, expected {} and {}",
                inputs.size(), outputs.size(), given + code.parameters.size(), form.outputs.size());
  for (size_t p = 0; p < code.parameters.size(); ++p) {
    const TensorSpec& spec = inputs[given + p];
    if (spec.type != code.parameters[p].type || !spec.shape.empty())
      return Unlike("parameter", spec);
  }
  TUNEC_RETURN_IF_ERROR(CheckInputs(form, sizes, inputs));
  return CheckOutputs(form, code.key, outputs);
}

/// Memory of one run: padded inputs, parameters and padded outputs. Each buffer is allocated at its
/// first use. Beyond the exact elements, an input contains 0 or data of an earlier run. The results
/// of a padded graph do not depend on these elements.
struct SizedVariant::Buffers {
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
};

namespace {

/// Returns the buffer's memory. If it is empty, first allocates memory for the tensor and clears
/// it.
Result<std::byte*> MemoryFor(Buffer& buffer, const TensorSpec& spec) {
  if (buffer.data() != nullptr) return buffer.data();
  TUNEC_ASSIGN(const int64_t bytes, ByteSize(spec));
  TUNEC_ASSIGN(buffer, Buffer::Allocate(static_cast<size_t>(bytes)));
  if (bytes > 0) std::memset(buffer.data(), 0, static_cast<size_t>(bytes));
  return buffer.data();
}

void StoreNumber(std::byte* address, DataType type, int64_t value) {
  if (IsFloat(type)) return StoreFloat(address, type, static_cast<double>(value));
  StoreInt(address, type, value);
}

}  // namespace

SizedVariant::SizedVariant(std::shared_ptr<const SizedForm> form, SizedCode code,
                           std::shared_ptr<const Executable> executable)
    : form_(std::move(form)), code_(std::move(code)), executable_(std::move(executable)) {
  for (const TensorSpec& input : form_->inputs) open_.emplace_back(input.shape.size(), -1);
  for (const SizedAxis& axis : form_->open) open_[axis.input][axis.axis] = axis.dimension;
}

SizedVariant::~SizedVariant() = default;

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

SizedVariant::Place SizedVariant::PlaceOfInput(const SizedPart& part, size_t i) const {
  // A model may have hundreds of inputs without dynamic axes, such as weights.
  if (std::ranges::all_of(open_[i], [](int dimension) { return dimension < 0; })) return {};
  const TensorSpec& spec = executable_->Inputs()[i];
  if (IsEmpty(spec.shape)) return {};
  const std::vector<int64_t> zeros(spec.shape.size(), 0);
  SliceCopy copy{{spec.shape, zeros}, {spec.shape, zeros}, spec.shape, SizeOf(spec.type)};
  for (size_t a = 0; a < copy.slice.size(); ++a) {
    const int dimension = open_[i][a];
    if (dimension < 0) continue;
    copy.source.extents[a] = part.whole[dimension];
    copy.source.begin[a] = part.begin[dimension];
    copy.slice[a] = part.size[dimension];
  }
  if (IsContiguous(copy.source, copy.slice, spec.shape))
    return {.offset = OffsetOf(copy.source, copy.element_bytes), .slice = std::nullopt};
  return {.slice = std::move(copy)};
}

Result<SizedVariant::Place> SizedVariant::PlaceOfOutput(const SizedPart& part, size_t o) const {
  TUNEC_ASSIGN(SliceCopy copy, OutputSliceOf((*form_->output_extents)[o], code_.key.sizes, part));
  copy.element_bytes = SizeOf(executable_->Outputs()[o].type);
  if (!IsEmpty(copy.slice) && IsContiguous(copy.target, copy.slice, copy.source.extents))
    return Place{.offset = OffsetOf(copy.target, copy.element_bytes), .slice = std::nullopt};
  return Place{.slice = std::move(copy)};
}

Result<SizedVariant::Places> SizedVariant::PlacesOf(const SizedPart& part) const {
  Places places;
  for (size_t i = 0; i < form_->inputs.size(); ++i) places.inputs.push_back(PlaceOfInput(part, i));
  for (size_t o = 0; o < form_->outputs.size(); ++o) {
    TUNEC_ASSIGN(places.outputs.emplace_back(), PlaceOfOutput(part, o));
  }
  return places;
}

Result<const void*> SizedVariant::PutInput(const Place& place, size_t i, const void* data,
                                           Buffers& buffers) const {
  if (!place.slice) return static_cast<const std::byte*>(data) + place.offset;
  const TensorSpec& spec = executable_->Inputs()[i];
  TUNEC_ASSIGN(std::byte* const padded, MemoryFor(buffers.inputs[i], spec));
  // Removes an earlier run's indices beyond the exact ones. They would be counted again if they are
  // out of range.
  if (IsInteger(spec.type)) std::memset(padded, 0, static_cast<size_t>(*ByteSize(spec)));
  CopySlice(data, padded, *place.slice);
  return padded;
}

Status SizedVariant::SetParameters(const Sizes& sizes, Buffers& buffers) const {
  for (size_t p = 0; p < code_.parameters.size(); ++p) {
    const SizedParameter& parameter = code_.parameters[p];
    const size_t number = open_.size() + p;
    TUNEC_ASSIGN(std::byte * address,
                 MemoryFor(buffers.inputs[number], executable_->Inputs()[number]));
    const std::optional<int64_t> value = parameter.value.At(sizes);
    if (!value)
      return Fail(ErrorCode::kParse, "parameter '{}' has no value",
                  executable_->Inputs()[number].name);
    StoreNumber(address, parameter.type, *value);
  }
  return {};
}

/// A part of a run: its variant, the places of the caller's arrays, and its buffers. On the host,
/// `from` and `to` are the arguments of the executable.
struct SizedVariant::PartRun {
  const SizedVariant* variant;
  Places places;
  std::unique_ptr<Buffers> buffers;
  std::vector<const void*> from = {};
  std::vector<void*> to = {};
};

Status SizedVariant::Begin(const SizedPart& part, std::vector<PartRun>& runs) const {
  for (size_t d = 0; d < part.size.size(); ++d)
    TUNEC_CHECK(part.size[d] >= 1 && part.size[d] <= code_.key.sizes[d],
                "a run of {} on code for {}", part.size[d], code_.key.sizes[d]);
  TUNEC_ASSIGN(Places places, PlacesOf(part));
  PartRun& run = runs.emplace_back(this, std::move(places), TakeBuffers());
  return SetParameters(part.size, *run.buffers);
}

Status SizedVariant::Prepare(PartRun& run, std::span<const void* const> inputs,
                             std::span<void* const> outputs) const {
  Buffers& buffers = *run.buffers;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Place& place = run.places.outputs[o];
    if (!place.slice) {
      run.to.push_back(static_cast<std::byte*>(outputs[o]) + place.offset);
      continue;
    }
    TUNEC_ASSIGN(run.to.emplace_back(), MemoryFor(buffers.outputs[o], executable_->Outputs()[o]));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    TUNEC_ASSIGN(run.from.emplace_back(), PutInput(run.places.inputs[i], i, inputs[i], buffers));
  }
  for (size_t i = inputs.size(); i < buffers.inputs.size(); ++i)
    run.from.push_back(buffers.inputs[i].data());
  return {};
}

Status SizedVariant::RunHere(std::span<PartRun> runs, std::span<const void* const> inputs,
                             std::span<void* const> outputs, const RunOptions& options) {
  std::vector<BatchedRun> joined;
  for (PartRun& run : runs) {
    TUNEC_RETURN_IF_ERROR(run.variant->Prepare(run, inputs, outputs));
    joined.push_back({run.variant->executable_.get(), {run.from, run.to}});
  }
  TUNEC_RETURN_IF_ERROR(
      Executable::RunBatch(joined, {.stream = options.stream, .returns = options.returns}));
  for (const PartRun& run : runs) {
    for (size_t o = 0; o < outputs.size(); ++o)
      if (run.places.outputs[o].slice)
        CopySlice(run.to[o], outputs[o], *run.places.outputs[o].slice);
  }
  return {};
}

// Runs on a device. The device copies slices, in order with the kernels.
Status SizedVariant::RunThere(const Buffers& buffers, const Places& places,
                              std::span<const void* const> inputs, std::span<void* const> outputs,
                              const RunOptions& options) const {
  std::vector<const void*> from;
  std::vector<void*> to;
  std::vector<BufferLocation> lie(options.inputs.begin(), options.inputs.end());
  std::vector<const SliceCopy*> input_slices, output_slices;
  const auto slice_of = [](const Place& place) { return place.slice ? &*place.slice : nullptr; };
  for (size_t i = 0; i < inputs.size(); ++i) {
    from.push_back(static_cast<const std::byte*>(inputs[i]) + places.inputs[i].offset);
    input_slices.push_back(slice_of(places.inputs[i]));
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    to.push_back(static_cast<std::byte*>(outputs[o]) + places.outputs[o].offset);
    output_slices.push_back(slice_of(places.outputs[o]));
  }
  lie.resize(inputs.size(), BufferLocation::kHost);
  for (size_t i = inputs.size(); i < buffers.inputs.size(); ++i) {
    from.push_back(buffers.inputs[i].data());
    lie.push_back(BufferLocation::kHostNow);
    input_slices.push_back(nullptr);
  }
  RunOptions there = options;
  there.inputs = lie;
  there.input_slices = input_slices;
  there.output_slices = output_slices;
  return executable_->Run(from, to, there);
}

bool SizedVariant::IsWhole(std::span<const SizedPart> parts) const {
  if (!form_->output_extents) return true;
  return parts.size() == 1 && code_.parameters.empty() && code_.key == ExactKey(parts[0].whole);
}

Status SizedVariant::Run(std::span<const std::shared_ptr<const SizedVariant>> variants,
                         std::span<const SizedPart> parts, std::span<const void* const> inputs,
                         std::span<void* const> outputs, const RunOptions& options) {
  const SizedVariant& first = *variants[0];
  if (first.IsWhole(parts)) return first.executable_->Run(inputs, outputs, options);
  std::vector<PartRun> runs;
  Status status;
  for (size_t i = 0; status && i < parts.size(); ++i) status = variants[i]->Begin(parts[i], runs);
  if (status && first.executable_->DeviceNumber())
    status = first.RunThere(*runs[0].buffers, runs[0].places, inputs, outputs, options);
  else if (status)
    status = RunHere(runs, inputs, outputs, options);
  for (PartRun& run : runs) run.variant->GiveBack(std::move(run.buffers));
  return status;
}

}  // namespace tunec
