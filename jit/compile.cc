#include "jit/compile.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <charconv>

#include "jit/builder.h"
#include "jit/emit_nest.h"
#include "jit/generate_code.h"
#include "jit/llvm_target.h"
#include "jit/object_check.h"
#include "support/stopwatch.h"

namespace tunec {
namespace {

/// Fills `builder` with the nest's functions and checks what LLVM thinks of them.
Result<std::vector<PhaseSymbol>> Emit(const LoopNest& nest, jit::Builder& builder,
                                      llvm::TargetMachine& machine) {
  builder.module().setTargetTriple(machine.getTargetTriple());
  builder.module().setDataLayout(machine.createDataLayout());
  TUNEC_ASSIGN(auto phases, jit::EmitNest(nest, builder));
  return phases;
}

Status VerifyModule(jit::Builder& builder) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(builder.module(), &stream))
    return Fail(ErrorCode::kInternal, "the emitter wrote invalid LLVM IR: {}", message);
  return {};
}

}  // namespace

std::string CodeGeneratorVersion() {
  return fmt::format("tunec-codegen {}, LLVM {}", kCodeGeneratorVersion, LLVM_VERSION_STRING);
}

Result<std::string> EmitLlvmIr(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(auto machine, jit::MakeTargetMachine(target.host));
  jit::Builder builder(nest.name, target);
  TUNEC_ASSIGN(auto phases, Emit(nest, builder, *machine));
  TUNEC_RETURN_IF_ERROR(VerifyModule(builder));
  std::string text;
  llvm::raw_string_ostream stream(text);
  builder.module().print(stream, nullptr);
  return text;
}

Result<std::string> EmitAssembly(const LoopNest& nest, const Target& target) {
  TUNEC_ASSIGN(auto machine, jit::MakeTargetMachine(target.host));
  jit::Builder builder(nest.name, target);
  TUNEC_ASSIGN(auto phases, Emit(nest, builder, *machine));
  TUNEC_RETURN_IF_ERROR(VerifyModule(builder));
  return jit::GenerateCode(builder.module(), *machine, jit::FileKind::kAssembly);
}

Result<ObjectCode> CompileObject(const LoopNest& nest, const Target& target, CompileTimes* times) {
  Stopwatch watch;
  TUNEC_ASSIGN(auto machine, jit::MakeTargetMachine(target.host));
  jit::Builder builder(nest.name, target);
  ObjectCode object;
  TUNEC_ASSIGN(object.phases, Emit(nest, builder, *machine));
  TUNEC_RETURN_IF_ERROR(VerifyModule(builder));
  const double emit_ms = watch.Lap();
  TUNEC_ASSIGN(object.bytes, jit::GenerateCode(builder.module(), *machine, jit::FileKind::kObject));
  if (times != nullptr) *times = {emit_ms, watch.Lap()};
  TUNEC_RETURN_IF_ERROR(jit::CheckObject(object.bytes));
  const StoragePlan plan = PlanStorage(nest);
  object.workspace_bytes = plan.workspace_bytes;
  object.scratch_bytes = plan.scratch_bytes;
  return object;
}

std::string Serialize(const ObjectCode& object) {
  std::string text = fmt::format("tunec-object 2 {} {} {} {}\n", object.workspace_bytes,
                                 object.scratch_bytes, object.phases.size(), object.bytes.size());
  for (const PhaseSymbol& phase : object.phases)
    text += fmt::format("{} {} {}\n", phase.tasks, phase.waves, phase.name);
  return text + object.bytes;
}

namespace {

/// Takes text up to `end` off the front; nothing when `end` does not occur.
std::optional<std::string_view> Take(std::string_view& text, char end) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return taken;
}

std::optional<int64_t> TakeNumber(std::string_view& text, char end) {
  const auto word = Take(text, end);
  if (!word) return std::nullopt;
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(word->data(), word->data() + word->size(), number);
  if (error != std::errc() || stop != word->data() + word->size() || number < 0)
    return std::nullopt;
  return number;
}

}  // namespace

Result<ObjectCode> ParseObjectCode(std::string_view text) {
  const auto damaged = [] { return Fail(ErrorCode::kParse, "damaged object code"); };
  if (!text.starts_with("tunec-object 2 "))
    return Fail(ErrorCode::kParse, "no object code of version 2");
  text.remove_prefix(15);
  ObjectCode object;
  const auto workspace = TakeNumber(text, ' ');
  const auto scratch = TakeNumber(text, ' ');
  const auto phases = TakeNumber(text, ' ');
  const auto size = TakeNumber(text, '\n');
  if (!workspace || !scratch || !phases || !size) return damaged();
  object.workspace_bytes = *workspace;
  object.scratch_bytes = *scratch;
  for (int64_t i = 0; i < *phases; ++i) {
    const auto tasks = TakeNumber(text, ' ');
    const auto waves = TakeNumber(text, ' ');
    const auto name = Take(text, '\n');
    if (!tasks || !waves || *waves < 1 || *tasks % *waves != 0 || !name || name->empty())
      return damaged();
    object.phases.push_back({std::string(*name), *tasks, *waves});
  }
  if (static_cast<int64_t>(text.size()) != *size) return damaged();
  object.bytes = text;
  return object;
}

}  // namespace tunec
