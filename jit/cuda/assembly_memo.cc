#include "jit/cuda/assembly_memo.h"

#include <fmt/format.h>

#include <utility>

#include "support/hash.h"

namespace tunec {

Result<Cubin> AssemblyMemo::Assemble(const Ptxas& ptxas, const std::string& ptx,
                                     std::string_view arch) {
  const std::string key = fmt::format("{} {} {}", ptxas.path, arch, StableHash(ptx));
  std::promise<Result<Cubin>> promise;
  Answer answer;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) {
      answer = known->second;
    } else {
      known_.emplace(key, promise.get_future().share());
      order_.push_back(key);
      if (order_.size() > kMost) Forget(std::string(order_.front()));
    }
  }
  if (answer.valid()) return answer.get();
  Result<Cubin> cubin = assemble_(ptxas, ptx, arch);
  promise.set_value(cubin);
  if (!cubin) {
    const std::lock_guard lock(mutex_);
    Forget(key);
  }
  return cubin;
}

void AssemblyMemo::Forget(const std::string& key) {
  known_.erase(key);
  std::erase(order_, key);
}

}  // namespace tunec
