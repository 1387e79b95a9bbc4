#include "runtime/device_context.h"

#include <algorithm>
#include <utility>

#include "runtime/count_outside.h"
#include "runtime/device_constants.h"
#include "support/check.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

using Kind = ValueRef::Kind;

bool IsAligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kDeviceAlignment == 0;
}

int64_t IndexBytes(const IndexCheck& check) {
  return check.count * static_cast<int64_t>(SizeOf(check.type));
}

void StartCopySlice(Device& queue, CopyWay way, void* to, const void* from,
                    const SliceCopy& slice) {
  ForEachRows(slice, [&](int64_t source, int64_t target, const CopiedRows& rows) {
    queue.StartCopyRows(way, static_cast<std::byte*>(to) + target,
                        static_cast<const std::byte*>(from) + source, rows);
  });
}

}  // namespace

Result<std::unique_ptr<DeviceContext>> DeviceContext::Make(const DeviceProgram& program) {
  std::unique_ptr<DeviceContext> context(new DeviceContext(program));
  TUNEC_ASSIGN(context->queue_, program.device.OpenQueue());
  TUNEC_RETURN_IF_ERROR(context->Allocate());
  TUNEC_RETURN_IF_ERROR(context->AddSteps());
  return context;
}

Result<DeviceMemory> DeviceContext::AllocateOnDevice(int64_t bytes) {
  TUNEC_ASSIGN(DeviceMemory memory, queue_->Allocate(static_cast<size_t>(bytes)));
  bytes_ += bytes;
  return memory;
}

Status DeviceContext::Allocate() {
  inputs_.resize(program_.staged.inputs.size());
  outputs_.resize(program_.staged.outputs.size());
  TUNEC_ASSIGN(arena_, AllocateOnDevice(program_.arena_bytes));
  TUNEC_ASSIGN(workspace_, AllocateOnDevice(WorkspaceBytes(program_.steps)));
  int64_t index_bytes = 0;
  for (const IndexCheck& check : program_.checks)
    index_bytes = std::max(index_bytes, IndexBytes(check));
  TUNEC_ASSIGN(indices_, Buffer::Allocate(static_cast<size_t>(index_bytes)));
  return {};
}

Status DeviceContext::AddSteps() {
  std::vector<DeviceCall> calls;  // calls of the last part
  const auto record = [&]() -> Status {
    if (calls.empty()) return {};
    TUNEC_ASSIGN(parts_.back().kernels, queue_->Record(std::exchange(calls, {})));
    return {};
  };
  for (size_t s = 0; s < program_.steps.size(); ++s) {
    const Step& step = program_.steps[s];
    if (step.code != nullptr) {
      if (calls.empty()) parts_.emplace_back();
      calls.push_back(MakeCall(step, calls.size()));
      parts_.back().steps.push_back(s);
    } else if (step.copy_bytes > 0) {
      TUNEC_RETURN_IF_ERROR(record());
      Part& part = parts_.emplace_back();
      const std::vector<void*> ends = AddArguments(step, 0);
      part.steps = {s};
      part.copy_bytes = step.copy_bytes;
      part.from = ends[0];
      part.to = ends[1];
    }
  }
  return record();
}

DeviceCall DeviceContext::MakeCall(const Step& step, size_t kernel) {
  return {.code = step.code,
          .arguments = AddArguments(step, kernel),
          .workspace = step.kernel.workspace_bytes > 0 ? workspace_.address : nullptr};
}

// Returns the addresses of a step's arguments, null for the caller's buffers. Adds the latter to
// caller_arguments_. The step belongs to the last part.
std::vector<void*> DeviceContext::AddArguments(const Step& step, size_t kernel) {
  std::vector<void*> arguments;
  for (const ValueRef& ref : step.arguments) {
    std::byte* base = nullptr;
    if (ref.kind == Kind::kConstant) {
      base = program_.constants[ref.index];
    } else if (ref.kind == Kind::kArena) {
      base = static_cast<std::byte*>(arena_.address);
    } else {
      caller_arguments_.push_back({.part = parts_.size() - 1,
                                   .kernel = kernel,
                                   .argument = arguments.size(),
                                   .output = ref.kind == Kind::kOutput,
                                   .index = ref.index,
                                   .offset = ref.offset});
    }
    arguments.push_back(base == nullptr ? nullptr : base + ref.offset);
  }
  return arguments;
}

std::string DeviceContext::Note() const {
  for (const Part& part : parts_) {
    if (part.kernels == nullptr) continue;
    if (std::string note = part.kernels->Note(); !note.empty()) return note;
  }
  return "";
}

Status DeviceContext::Stage(Staging& staging, int64_t bytes) {
  if (staging.memory.owner == nullptr) {
    TUNEC_ASSIGN(staging.memory, AllocateOnDevice(bytes));
  }
  staging.address = static_cast<std::byte*>(staging.memory.address);
  return {};
}

Status DeviceContext::SetInputAddresses(const RunBuffers& buffers) {
  const auto overlaps_output = [&](size_t i) {
    for (size_t o = 0; o < buffers.outputs.size(); ++o)
      if (Overlap(buffers.inputs[i], buffers.BytesOfInput(i), buffers.outputs[o],
                  buffers.BytesOfOutput(o)))
        return true;
    return false;
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const bool there = buffers.IsInputOnDevice(i) && buffers.InputSlice(i) == nullptr;
    const bool aligned = IsAligned(buffers.inputs[i]);
    if (there && !aligned) program_.staged.inputs[i].store(true, std::memory_order_relaxed);
    if (there && aligned && !overlaps_output(i)) {
      // Kernels take all arguments as void*, but write only outputs.
      inputs_[i].address = static_cast<std::byte*>(const_cast<void*>(buffers.inputs[i]));
    } else {
      TUNEC_RETURN_IF_ERROR(Stage(inputs_[i], buffers.input_bytes[i]));
    }
  }
  return {};
}

Status DeviceContext::SetOutputAddresses(const RunBuffers& buffers) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const bool there = buffers.IsOutputOnDevice(i) && buffers.OutputSlice(i) == nullptr;
    const bool aligned = IsAligned(buffers.outputs[i]);
    if (there && !aligned) program_.staged.outputs[i].store(true, std::memory_order_relaxed);
    if (there && aligned) {
      outputs_[i].address = static_cast<std::byte*>(buffers.outputs[i]);
    } else {
      TUNEC_RETURN_IF_ERROR(Stage(outputs_[i], buffers.output_bytes[i]));
    }
  }
  return {};
}

void DeviceContext::SetArguments() {
  for (const CallerArgument& argument : caller_arguments_) {
    const Staging& staging = argument.output ? outputs_[argument.index] : inputs_[argument.index];
    void* const address = staging.address + argument.offset;
    Part& part = parts_[argument.part];
    if (part.kernels != nullptr) {
      part.kernels->SetArgument(argument.kernel, argument.argument, address);
    } else {
      (argument.argument == 0 ? part.from : part.to) = address;
    }
  }
}

// Writes zeros to the memory of each input of which the caller gives only a slice. The copy fills
// only the slice. Without the zeros, CountOutside would also check old contents elsewhere in this
// memory.
Status DeviceContext::ClearSlicedInputs(const RunBuffers& buffers) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (buffers.InputSlice(i) == nullptr) continue;
    TUNEC_RETURN_IF_ERROR(queue_->Fill(inputs_[i].address, std::byte{0},
                                       static_cast<size_t>(buffers.input_bytes[i])));
  }
  return {};
}

void DeviceContext::CopyInputs(const RunBuffers& buffers) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    std::byte* const to = inputs_[i].address;
    const auto bytes = static_cast<size_t>(buffers.input_bytes[i]);
    if (const SliceCopy* slice = buffers.InputSlice(i)) {
      StartCopySlice(*queue_, buffers.IsInputOnDevice(i) ? CopyWay::kWithin : CopyWay::kIn, to,
                     buffers.inputs[i], *slice);
    } else if (!buffers.IsInputOnDevice(i)) {
      queue_->StartCopyIn(to, buffers.inputs[i], bytes);
    } else if (to != buffers.inputs[i]) {
      queue_->StartCopy(to, buffers.inputs[i], bytes);
    }
  }
}

void DeviceContext::CopyOutputs(const RunBuffers& buffers) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::byte* const from = outputs_[i].address;
    const auto bytes = static_cast<size_t>(buffers.output_bytes[i]);
    if (const SliceCopy* slice = buffers.OutputSlice(i)) {
      StartCopySlice(*queue_, buffers.IsOutputOnDevice(i) ? CopyWay::kWithin : CopyWay::kOut,
                     buffers.outputs[i], from, *slice);
    } else if (!buffers.IsOutputOnDevice(i)) {
      queue_->StartCopyOut(buffers.outputs[i], from, bytes);
    } else if (from != buffers.outputs[i]) {
      queue_->StartCopy(buffers.outputs[i], from, bytes);
    }
  }
}

void DeviceContext::StartSteps() {
  for (const Part& part : parts_) {
    if (part.kernels != nullptr) {
      part.kernels->Start();
    } else {
      queue_->StartCopy(part.to, part.from, static_cast<size_t>(part.copy_bytes));
    }
  }
}

// Times the steps one by one and waits for each.
Status DeviceContext::TimeSteps(std::span<double> seconds) {
  for (const Part& part : parts_) {
    if (part.kernels != nullptr) {
      for (size_t i = 0; i < part.steps.size(); ++i) {
        TUNEC_ASSIGN(seconds[part.steps[i]], part.kernels->Seconds(i));
      }
      continue;
    }
    TUNEC_RETURN_IF_ERROR(queue_->Synchronize());
    const Stopwatch watch;
    queue_->StartCopy(part.to, part.from, static_cast<size_t>(part.copy_bytes));
    TUNEC_RETURN_IF_ERROR(queue_->Synchronize());
    seconds[part.steps[0]] = watch.Milliseconds() / 1e3;
  }
  return {};
}

Status DeviceContext::RunInStream(const RunBuffers& buffers, std::span<double> seconds) {
  CopyInputs(buffers);
  Status timed;
  if (seconds.empty()) {
    StartSteps();
  } else {
    timed = TimeSteps(seconds);
  }
  if (timed) CopyOutputs(buffers);
  // The wait is also needed after a failure, because started copies use the caller's buffers.
  const Status done = queue_->Synchronize();
  return timed ? done : timed;
}

Status DeviceContext::Run(const RunBuffers& buffers, std::span<double> seconds) {
  TUNEC_RETURN_IF_ERROR(SetInputAddresses(buffers));
  TUNEC_RETURN_IF_ERROR(SetOutputAddresses(buffers));
  SetArguments();
  TUNEC_RETURN_IF_ERROR(queue_->UseStream(buffers.options.stream));
  queue_->FollowMark();
  const bool waits = buffers.options.returns == RunReturn::kDone;
  Status ran = ClearSlicedInputs(buffers);
  if (ran) ran = waits ? RunInStream(buffers, seconds) : Queue(buffers);
  queued_in_ = waits ? nullptr : buffers.options.stream;
  TUNEC_RETURN_IF_ERROR(queue_->UseStream(nullptr));
  return ran;
}

Status DeviceContext::Queue(const RunBuffers& buffers) {
  CopyInputs(buffers);
  StartSteps();
  CopyOutputs(buffers);
  return queue_->Mark();
}

Result<bool> DeviceContext::IsFreeFor(void* stream) {
  if (queued_in_ == nullptr) return true;
  const Result<bool> reached = queue_->HasReachedMark();
  if (!reached || *reached) {
    queued_in_ = nullptr;
    return reached;
  }
  return queued_in_ == stream;
}

Status DeviceContext::Wait() {
  queued_in_ = nullptr;
  return queue_->WaitForMark();
}

DeviceContext::~DeviceContext() {
  // Callers that need errors of the queued run call Wait before the destructor.
  if (queue_ != nullptr) (void)Wait();
}

Result<int64_t> DeviceContext::CountOutside(const IndexCheck& check, const RunBuffers& buffers) {
  const ValueRef& ref = check.indices;
  const auto index = static_cast<size_t>(ref.index);
  const std::byte* on_host = nullptr;
  const std::byte* there = static_cast<const std::byte*>(arena_.address);
  if (ref.kind == Kind::kInput) {
    there = inputs_[index].address;
    if (!buffers.IsInputOnDevice(index) && buffers.InputSlice(index) == nullptr)
      on_host = static_cast<const std::byte*>(buffers.inputs[index]);
  } else if (ref.kind == Kind::kOutput) {
    there = outputs_[index].address;
    if (!buffers.IsOutputOnDevice(index) && buffers.OutputSlice(index) == nullptr)
      on_host = static_cast<const std::byte*>(buffers.outputs[index]);
  }
  if (on_host != nullptr) {
    on_host += ref.offset;
  } else {
    TUNEC_RETURN_IF_ERROR(queue_->CopyOut(indices_.data(), there + ref.offset,
                                          static_cast<size_t>(IndexBytes(check))));
    on_host = indices_.data();
  }
  return tunec::CountOutside({on_host, check.count, check.type}, check.extent, program_.pool);
}

}  // namespace tunec
