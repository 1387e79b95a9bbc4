// The LLVM side of Builder, shared by its two source files.
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
  /// Splats the scalar one of two operands when the other is a vector.
  void Match(llvm::Value*& a, llvm::Value*& b);
  /// One splat per scalar and block, so that the code stays small.
  llvm::Value* Splat(llvm::Value* scalar, int lanes);

  // Shared pointers, since they can be destroyed where LLVM's classes are not complete.
  std::shared_ptr<llvm::LLVMContext> context;
  std::shared_ptr<llvm::Module> module;
  std::shared_ptr<llvm::IRBuilderBase> builder;
  llvm::IRBuilderBase& ir;
  llvm::Function* function = nullptr;
  std::map<std::pair<llvm::Value*, int>, llvm::Value*> splats;  // of the current block
  BFloat16Rounding bfloat16_rounding = nullptr;
  PowerScaling power_scaling;
  bool elsewhere = false;                          // inserting at the end of another block
  std::vector<llvm::AllocaInst*> slots;            // of the current function, to be promoted
  std::map<int64_t, llvm::Value*> brief_stack;     // of the current function, by bytes
  std::map<llvm::Value*, llvm::Value*> addresses;  // of constants in memory
};

}  // namespace tunec::jit
