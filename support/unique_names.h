// A set of names that makes further unique names.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tunec {

/// Names that are in use. No code iterates over them, because their order is not fixed.
class UniqueNames {
 public:
  /// Returns `base` if this name is not in use, otherwise the first unused of base_1, base_2 and so
  /// on. The returned name is then in use.
  std::string Make(std::string_view base) {
    auto& [arena, last] = *names_;
    const auto [found, fresh] = last.try_emplace(std::pmr::string(base, &arena), 0);
    if (fresh) return std::string(base);
    int& number = found->second;
    while (true) {
      std::string name = fmt::format("{}_{}", base, ++number);
      if (last.try_emplace(std::pmr::string(name, &arena), 0).second) return name;
    }
  }
  bool Contains(std::string_view name) const { return names_->last.contains(name); }
  void Remove(std::string_view name) {
    auto& last = names_->last;
    if (const auto found = last.find(name); found != last.end()) last.erase(found);
  }
  void Reserve(size_t count) { names_->last.reserve(count); }

 private:
  struct HashName {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  /// The names with their memory. Graphs of 40,000 nodes are built a dozen times in a
  /// compilation; single allocations would take a sixth of that time. Names that were removed stay
  /// in memory.
  struct Names {
    std::pmr::monotonic_buffer_resource arena;
    /// The last number that was appended to each name.
    std::pmr::unordered_map<std::pmr::string, int, HashName, std::equal_to<>> last{&arena};
  };
  std::unique_ptr<Names> names_ = std::make_unique<Names>();
};

}  // namespace tunec
