// The private part of Builder with LLVM's classes, shared by builder.cc and builder_memory.cc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jit/builder/builder.h"

namespace llvm {
class AllocaInst;
class Function;
class IRBuilderBase;
class LLVMContext;
}  // namespace llvm

namespace tunec::jit {

struct Builder::Impl {
  explicit Impl(const std::string& module_name);

  llvm::Type* Type(IrType type);
  /// Splats the scalar operand if the other operand is a vector.
  void Match(llvm::Value*& a, llvm::Value*& b);
  /// Returns a vector of copies of the scalar. Within a block, a vector of the same scalar and
  /// length can be used again, so that the code stays small.
  llvm::Value* Splat(llvm::Value* scalar, int lanes);

  // Shared pointers can be destroyed where LLVM's classes are incomplete types.
  std::shared_ptr<llvm::LLVMContext> context;
  std::shared_ptr<llvm::Module> module;
  std::shared_ptr<llvm::IRBuilderBase> builder;
  llvm::IRBuilderBase& ir;
  llvm::Function* function = nullptr;
  std::map<std::pair<llvm::Value*, int>, llvm::Value*> splats;  // splats of the current block
  BFloat16Rounding bfloat16_rounding = nullptr;
  PowerScaling power_scaling;
  bool flushes_denormals = false;
  bool elsewhere = false;                // true while inserting at the end of another block
  std::vector<llvm::AllocaInst*> slots;  // slots of the current function, to be promoted
  std::map<int64_t, llvm::Value*>
      brief_stack;  // results of ScratchStackBytes in the current function, by bytes
  std::map<llvm::Value*, llvm::Value*> addresses;  // addresses of constants in memory
};

}  // namespace tunec::jit
