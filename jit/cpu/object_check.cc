#include "jit/cpu/object_check.h"

#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

namespace tunec::jit {

Result<std::vector<FunctionSize>> CheckObject(const std::string& bytes,
                                              std::span<const std::string_view> imports) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(bytes), "kernel"));
  if (!object)
    return Fail(ErrorCode::kParse, "not an object file: {}", llvm::toString(object.takeError()));
  std::vector<FunctionSize> functions;
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    auto type = symbol.getType();
    if (!flags || !name || !type) {
      if (!flags) llvm::consumeError(flags.takeError());
      if (!name) llvm::consumeError(name.takeError());
      if (!type) llvm::consumeError(type.takeError());
      return Fail(ErrorCode::kParse, "damaged symbol table");
    }
    const bool imported = (*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty();
    if (imported && std::ranges::find(imports, std::string_view(*name)) == imports.end())
      return Fail(ErrorCode::kInternal, "the kernel imports symbol '{}'", name->str());
    if (*type == llvm::object::SymbolRef::ST_Function)
      functions.push_back({name->str(), llvm::object::ELFSymbolRef(symbol).getSize()});
  }
  return functions;
}

}  // namespace tunec::jit
