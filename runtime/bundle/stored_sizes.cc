#include "runtime/bundle/stored_sizes.h"

#include "runtime/bundle/byte_lists.h"
#include "support/size_expression.h"

namespace tunec::bundle {
namespace {

// Lower bounds of the bytes that store parts of a model, for the check of counts (ReadAll).
constexpr size_t kNumberBytes = 8;
constexpr size_t kTensorBytes = 17;
constexpr size_t kAxisBytes = 24;
constexpr size_t kFormulaBytes = 33;
constexpr size_t kStepBytes = 9;
constexpr size_t kListedBytes = 9;
constexpr size_t kParameterBytes = 17;
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

void WriteTerm(ByteWriter& out, const SizeExpression& term) {
  WriteAll(out, term.steps(), [](ByteWriter& to, const SizeExpression::Step& step) {
    to.Byte(static_cast<uint8_t>(step.kind));
    to.Number(step.value);
  });
}
// Reads a term. A term that names a size which the model lacks is accepted: such a term has no
// value.
SizeExpression ReadTerm(ByteReader& in) {
  auto steps = ReadAll(in, kStepBytes, [](ByteReader& from) {
    const uint8_t kind = from.Byte();
    return SizeExpression::Step{static_cast<SizeExpression::Kind>(kind), from.Number()};
  });
  const auto term = SizeExpression::FromSteps(std::move(steps), SIZE_MAX);
  if (!term) in.Reject();
  return term.value_or(SizeExpression());
}

void WriteFormula(ByteWriter& out, const SizeFormula& formula) {
  out.Byte(static_cast<uint8_t>(formula.form));
  out.Real(formula.constant);
  WriteAll(out, formula.factors, [](ByteWriter& to, double factor) { to.Real(factor); });
  out.Real(formula.divisor);
  WriteAll(out, formula.terms, WriteTerm);
}
SizeFormula ReadFormula(ByteReader& in) {
  SizeFormula formula{.form = in.Choice(SizeFormula::Form::kOverRoot), .constant = in.Real()};
  formula.factors = ReadAll(in, kNumberBytes, [](ByteReader& from) { return from.Real(); });
  formula.divisor = in.Real();
  formula.terms = ReadAll(in, kNumberBytes, ReadTerm);
  return formula;
}

using FormulasOfAxes = std::vector<std::vector<SizeFormula>>;
void WriteAxes(ByteWriter& out, const FormulasOfAxes& axes) {
  WriteAll(out, axes, [](ByteWriter& to, const std::vector<SizeFormula>& parts) {
    WriteAll(to, parts, WriteFormula);
  });
}
FormulasOfAxes ReadAxes(ByteReader& in) {
  return ReadAll(in, kNumberBytes,
                 [](ByteReader& from) { return ReadAll(from, kFormulaBytes, ReadFormula); });
}

void WriteListed(ByteWriter& out, const ListedSizes& listed) {
  WriteAll(out, listed.sizes, WriteNumber);
  WriteFlag(out, listed.exact);
}
ListedSizes ReadListed(ByteReader& in) {
  ListedSizes listed{.sizes = ReadAll(in, kNumberBytes, ReadNumber)};
  listed.exact = ReadFlag(in);
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
  WriteAll(out, form.most, WriteNumber);
  WriteAll(out, form.listed, WriteListed);
}
SizedForm ReadForm(ByteReader& in) {
  SizedForm form;
  form.dimensions = ReadAll(in, kNumberBytes, [](ByteReader& from) { return from.Text(); });
  form.inputs = ReadAll(in, kTensorBytes, ReadTensor);
  form.outputs = ReadAll(in, kTensorBytes, ReadTensor);
  form.open = ReadAll(in, kAxisBytes, ReadAxis);
  if (ReadFlag(in)) form.output_extents = ReadAll(in, kNumberBytes, ReadAxes);
  form.separable = ReadAll(in, 1, ReadFlag);
  form.most = ReadAll(in, kNumberBytes, ReadNumber);
  form.listed = ReadAll(in, kListedBytes, ReadListed);
  return form;
}

void WriteParameter(ByteWriter& out, const SizedParameter& parameter) {
  out.Byte(static_cast<uint8_t>(parameter.type));
  WriteAll(out, parameter.shape, WriteNumber);
  WriteAll(out, parameter.elements, WriteFormula);
}
SizedParameter ReadParameter(ByteReader& in) {
  SizedParameter parameter{.type = ReadType(in)};
  parameter.shape = ReadAll(in, kNumberBytes, [](ByteReader& from) { return from.Size(); });
  parameter.elements = ReadAll(in, kFormulaBytes, ReadFormula);
  return parameter;
}

void WriteSizedPlan(ByteWriter& out, const StoredSizedPlan& plan) {
  WriteAll(out, plan.code.key.sizes, WriteNumber);
  WriteAll(out, plan.code.key.open, WriteFlag);
  WriteAll(out, plan.code.least, WriteNumber);
  WriteAll(out, plan.code.parameters, WriteParameter);
  out.Text(Serialize(plan.plan));
}
StoredSizedPlan ReadSizedPlan(ByteReader& in) {
  StoredSizedPlan plan;
  plan.code.key.sizes = ReadAll(in, kNumberBytes, ReadNumber);
  plan.code.key.open = ReadAll(in, 1, ReadFlag);
  plan.code.least = ReadAll(in, kNumberBytes, ReadNumber);
  plan.code.parameters = ReadAll(in, kParameterBytes, ReadParameter);
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
