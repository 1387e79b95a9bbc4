#include "runtime/bundle/stored_sizes.h"

#include "runtime/bundle/byte_lists.h"

namespace tunec::bundle {
namespace {

// Lower bounds of the bytes that store parts of a model, for the check of counts (ReadAll).
constexpr size_t kNumberBytes = 8;
constexpr size_t kTensorBytes = 17;
constexpr size_t kAxisBytes = 24;
constexpr size_t kCheckBytes = 25;
constexpr size_t kStepBytes = 9;
constexpr size_t kListedBytes = 17;
constexpr size_t kParameterBytes = 9;
constexpr size_t kPlanBytes = 40;

void WriteNumber(ByteWriter& out, int64_t number) { out.Number(number); }
int64_t ReadNumber(ByteReader& in) { return in.Number(); }

void WriteFlag(ByteWriter& out, bool flag) { out.Byte(flag ? 1 : 0); }
bool ReadFlag(ByteReader& in) {
  const uint8_t flag = in.Byte();
  if (flag > 1) in.Reject();
  return flag == 1;
}

// Writes a tensor. A dynamic size is -1.
void WriteTensor(ByteWriter& out, const TensorSpec& spec) {
  out.Text(spec.name);
  out.Byte(static_cast<uint8_t>(spec.type));
  WriteAll(out, spec.shape, WriteNumber);
}
TensorSpec ReadTensor(ByteReader& in) {
  TensorSpec spec{.name = in.Text(), .type = ReadType(in)};
  spec.shape = ReadAll(in, kNumberBytes, ReadNumber);
  for (const int64_t size : spec.shape)
    if (size < -1) in.Reject();
  return spec;
}

void WriteAxis(ByteWriter& out, const SizedAxis& axis) {
  out.Number(axis.input);
  out.Number(axis.axis);
  out.Number(axis.dimension);
}
int ReadIndex(ByteReader& in) {
  const int64_t index = in.Size();
  if (index > INT32_MAX) in.Reject();
  return static_cast<int>(index);
}
SizedAxis ReadAxis(ByteReader& in) {
  return {.input = ReadIndex(in), .axis = ReadIndex(in), .dimension = ReadIndex(in)};
}

void WriteProgram(ByteWriter& out, const SizeProgram& program) {
  WriteAll(out, program.steps(), [](ByteWriter& to, const SizeProgram::Step& step) {
    to.Byte(static_cast<uint8_t>(step.kind));
    to.Number(step.value);
  });
}
// Reads a program. CheckSizes rejects a size that the model lacks.
SizeProgram ReadProgram(ByteReader& in) {
  auto steps = ReadAll(in, kStepBytes, [](ByteReader& from) {
    const uint8_t kind = from.Byte();
    return SizeProgram::Step{static_cast<SizeProgram::Kind>(kind), from.Number()};
  });
  const auto program = SizeProgram::FromSteps(std::move(steps), SIZE_MAX);
  if (!program) in.Reject();
  return program.value_or(SizeProgram());
}

void WriteCheck(ByteWriter& out, const SizeCheck& check) {
  out.Byte(static_cast<uint8_t>(check.kind));
  WriteProgram(out, check.left);
  WriteProgram(out, check.right);
  out.Text(check.text);
}
SizeCheck ReadCheck(ByteReader& in) {
  SizeCheck check{.kind = in.Choice(SizeCondition::Kind::kBroadcasts)};
  check.left = ReadProgram(in);
  check.right = ReadProgram(in);
  check.text = in.Text();
  return check;
}

using ExtentsOfAxes = std::vector<std::vector<SizeProgram>>;
void WriteAxes(ByteWriter& out, const ExtentsOfAxes& axes) {
  WriteAll(out, axes, [](ByteWriter& to, const std::vector<SizeProgram>& parts) {
    WriteAll(to, parts, WriteProgram);
  });
}
ExtentsOfAxes ReadAxes(ByteReader& in) {
  return ReadAll(in, kNumberBytes,
                 [](ByteReader& from) { return ReadAll(from, kNumberBytes, ReadProgram); });
}

void WriteListed(ByteWriter& out, const ListedSizes& listed) {
  WriteAll(out, listed.sizes, WriteNumber);
  WriteFlag(out, listed.exact);
  out.Number(listed.step);
}
ListedSizes ReadListed(ByteReader& in) {
  ListedSizes listed{.sizes = ReadAll(in, kNumberBytes, ReadNumber)};
  listed.exact = ReadFlag(in);
  listed.step = in.Number();
  return listed;
}

void WriteForm(ByteWriter& out, const SizedForm& form) {
  WriteAll(out, form.dimensions, [](ByteWriter& to, const std::string& name) { to.Text(name); });
  WriteAll(out, form.inputs, WriteTensor);
  WriteAll(out, form.outputs, WriteTensor);
  WriteAll(out, form.open, WriteAxis);
  WriteFlag(out, form.output_extents.has_value());
  if (form.output_extents) WriteAll(out, *form.output_extents, WriteAxes);
  WriteAll(out, form.separable, WriteFlag);
  WriteAll(out, form.listed, WriteListed);
  WriteAll(out, form.conditions, WriteCheck);
}
SizedForm ReadForm(ByteReader& in) {
  SizedForm form;
  form.dimensions = ReadAll(in, kNumberBytes, [](ByteReader& from) { return from.Text(); });
  form.inputs = ReadAll(in, kTensorBytes, ReadTensor);
  form.outputs = ReadAll(in, kTensorBytes, ReadTensor);
  form.open = ReadAll(in, kAxisBytes, ReadAxis);
  if (ReadFlag(in)) form.output_extents = ReadAll(in, kNumberBytes, ReadAxes);
  form.separable = ReadAll(in, 1, ReadFlag);
  form.listed = ReadAll(in, kListedBytes, ReadListed);
  form.conditions = ReadAll(in, kCheckBytes, ReadCheck);
  return form;
}

void WriteParameter(ByteWriter& out, const SizedParameter& parameter) {
  out.Byte(static_cast<uint8_t>(parameter.type));
  WriteProgram(out, parameter.value);
}
SizedParameter ReadParameter(ByteReader& in) {
  SizedParameter parameter{.type = ReadType(in)};
  parameter.value = ReadProgram(in);
  return parameter;
}

void WriteSizedPlan(ByteWriter& out, const StoredSizedPlan& plan) {
  WriteAll(out, plan.code.key.sizes, WriteNumber);
  WriteAll(out, plan.code.key.open, WriteFlag);
  WriteAll(out, plan.code.parameters, WriteParameter);
  WriteAll(out, plan.code.conditions, WriteCheck);
  out.Text(Serialize(plan.plan));
}
StoredSizedPlan ReadSizedPlan(ByteReader& in) {
  StoredSizedPlan plan;
  plan.code.key.sizes = ReadAll(in, kNumberBytes, ReadNumber);
  plan.code.key.open = ReadAll(in, 1, ReadFlag);
  plan.code.parameters = ReadAll(in, kParameterBytes, ReadParameter);
  plan.code.conditions = ReadAll(in, kCheckBytes, ReadCheck);
  Result<StoredPlan> parsed = ParsePlan(in.Block());
  if (!parsed) {
    in.Reject();
    return plan;
  }
  plan.plan = *std::move(parsed);
  return plan;
}

}  // namespace

std::string Serialize(const StoredSizes& sizes) {
  ByteWriter out;
  WriteForm(out, sizes.form);
  WriteAll(out, sizes.plans, WriteSizedPlan);
  return out.bytes();
}

Result<StoredSizes> ParseSizes(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  StoredSizes sizes;
  sizes.form = ReadForm(in);
  sizes.plans = ReadAll(in, kPlanBytes, ReadSizedPlan);
  if (!in.done())
    return Fail(ErrorCode::kParse, "the bundle's plans for several sizes are damaged");
  return sizes;
}

}  // namespace tunec::bundle
