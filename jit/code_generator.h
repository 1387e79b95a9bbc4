// The seam between loops and machines: everything before it is the same for all targets, everything
// behind it belongs to one kind of target. A new kind is a folder with a CodeGenerator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// Code as text, for people.
enum class CodeText : uint8_t {
  kLlvmIr,
  kAssembly,
  kMachineCode,  // read back, where an assembler that is not ours has made it of kAssembly
};

/// Without state: all functions may be called from several threads.
class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;

  /// The kind of targets that it is for (Target::Kind).
  virtual std::string_view Name() const = 0;
  /// One line that changes whenever the same nest and target may give other code: part of the keys
  /// of stored code.
  virtual std::string Version() const = 0;

  /// The nest as this kind of target runs it: who runs the blocks and threads of its loops, and
  /// where storage that is theirs lies. Requires: a verified nest. Ensures: a nest that verifies,
  /// with the same results.
  virtual LoopNest MapThreads(const LoopNest& nest) const = 0;

  /// Whether a kernel of these loops is worth compiling, asked before any code is generated, which
  /// costs a thousand times more: kResourceLimit where it would not run for want of resources, or
  /// would surely lack registers. Requires: a verified nest, not mapped to threads.
  virtual Status CheckFits(const LoopNest& /*nest*/, const Target& /*target*/) const { return {}; }

  /// Requires: a nest that MapThreads made and Verify accepts. Errors: kUnsupported for nodes that
  /// the target has not, kDevice for a target that no code is generated for, kResourceLimit for
  /// code or storage beyond bounds.
  virtual Result<KernelImage> Compile(const LoopNest& nest, const Target& target) const = 0;
  /// The same code as text. Requires and errors: as above; kUnsupported also where kMachineCode is
  /// nothing else than kAssembly.
  virtual Result<std::string> Show(const LoopNest& nest, const Target& target,
                                   CodeText text) const = 0;
};

/// The generator for the target's kind. kUnsupported when there is none.
Result<std::shared_ptr<const CodeGenerator>> GeneratorFor(const Target& target);
/// Its version: "tunec-codegen 1, LLVM 22.1.8".
std::string CodeGeneratorVersion(const Target& target);

/// Makes a generator known for targets of its name while this object lives. tunec's own are known
/// without. Requires: no other one of that name.
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
