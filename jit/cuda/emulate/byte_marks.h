// A mark for each byte of memory that is touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace tunec {

/// Marks begin as `Mark{}`. Memory as large as what was touched.
template <class Mark>
class ByteMarks {
 public:
  Mark& At(const std::byte* address) {
    const auto number = reinterpret_cast<uintptr_t>(address);
    const uintptr_t page = number / kPageBytes;
    if (last_ == nullptr || page != last_page_) {
      last_ = &pages_[page];
      last_page_ = page;
    }
    return (*last_)[number % kPageBytes];
  }

  /// Null where At was not asked.
  const Mark* Find(const std::byte* address) const {
    const auto number = reinterpret_cast<uintptr_t>(address);
    const auto page = pages_.find(number / kPageBytes);
    return page == pages_.end() ? nullptr : &page->second[number % kPageBytes];
  }

  /// Calls `visit(address, mark)` in the order of addresses, for each byte of each page that At
  /// was asked for: also for some that it was not.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [page, marks] : pages_) {
      for (size_t i = 0; i < marks.size(); ++i) {
        // Pages are kept by number. NOLINTNEXTLINE(performance-no-int-to-ptr)
        visit(reinterpret_cast<const std::byte*>(page * kPageBytes + i), marks[i]);
      }
    }
  }

 private:
  static constexpr size_t kPageBytes = 256;
  using Page = std::array<Mark, kPageBytes>;

  std::map<uintptr_t, Page> pages_;
  Page* last_ = nullptr;  // where At was last
  uintptr_t last_page_ = 0;
};

}  // namespace tunec
