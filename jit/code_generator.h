// The interface of code generators, which turn loop nests into kernels. A generator supports one
// kind of target. docs/internals/add_a_target.md explains how to add a kind.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// A form in which code is shown as text.
enum class CodeText : uint8_t {
  kLlvmIr,
  kAssembly,
  kMachineCode,  // disassembly, if an external assembler translates kAssembly
};

/// A rewrite of a nest towards the form that a kind of target runs. The argument and the result
/// must satisfy Verify and compute the same values. The rewrite fails with kUnsupported for loops
/// that cannot be rewritten.
struct NestStage {
  std::string_view name;     // a verb, for `tunec show --after`
  std::string_view summary;  // one line, for --help
  Result<LoopNest> (*rewrite)(const LoopNest& nest);
};

/// A generator of code for one kind of target. All functions may be called from several threads at
/// once.
class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;

  /// Returns the kind of targets that the generator supports (Target::Kind).
  virtual std::string_view Name() const = 0;
  /// Returns one line, which must change whenever the same nest and target may produce different
  /// code. The line is part of the keys of stored code.
  virtual std::string Version() const = 0;

  /// Returns the rewrites from loops over blocks and threads to the loops that this kind of target
  /// runs, in order. The stages of the loop pipeline (kernel/loop_pipeline.h) contain these
  /// rewrites. The result is valid until the program ends.
  virtual std::span<const NestStage> Stages() const = 0;
  /// Runs all Stages without verification. Fails if a stage fails.
  Result<LoopNest> MapThreads(LoopNest nest) const;

  /// Checks whether a kernel of these loops is worth compiling. Generates no code. The default
  /// accepts every kernel. Fails with kResourceLimit if the kernel would not run for lack of
  /// resources, or would surely lack registers. The nest must be verified and not yet mapped to
  /// threads.
  virtual Status CheckFits(const LoopNest& /*nest*/, const Target& /*target*/) const { return {}; }

  /// Generates the kernel of a nest that all Stages have rewritten and that Verify accepts. Errors
  /// include kUnsupported for nodes that the target does not support, kDevice for a target without
  /// code generation, and kResourceLimit for code or storage beyond the target's limits.
  virtual Result<KernelImage> Compile(const LoopNest& nest, const Target& target) const = 0;
  /// Generates a kernel like Compile, for code that a process runs once, such as packing of
  /// weights. A short time of compilation is more important than fast code. The default is Compile.
  virtual Result<KernelImage> CompileForOneRun(const LoopNest& nest, const Target& target) const {
    return Compile(nest, target);
  }
  /// Returns the code for a nest as text. For an emulated GPU, this is the code of the real GPU.
  /// The requirements are those of Compile. Fails with kUnsupported for kMachineCode if no external
  /// assembler translates kAssembly.
  virtual Result<std::string> Show(const LoopNest& nest, const Target& target,
                                   CodeText text) const = 0;
};

/// Returns the generators of all kinds of targets.
std::vector<std::shared_ptr<const CodeGenerator>> CodeGenerators();
/// Returns the generator for the target's kind. Fails with kUnsupported if there is none.
Result<std::shared_ptr<const CodeGenerator>> GeneratorFor(const Target& target);
/// Returns the Version of the target's generator, or "no code generator" if there is none.
std::string CodeGeneratorVersion(const Target& target);

/// A registration of a generator for the kind of targets that its Name() returns. The registration
/// ends with this object. tunec's own generators need no registration. No other generator may have
/// the same name.
class RegisteredGenerator {
 public:
  explicit RegisteredGenerator(std::shared_ptr<const CodeGenerator> generator);
  ~RegisteredGenerator();
  RegisteredGenerator(const RegisteredGenerator&) = delete;
  RegisteredGenerator& operator=(const RegisteredGenerator&) = delete;

 private:
  std::shared_ptr<const CodeGenerator> generator_;
};

}  // namespace tunec
