// A map from the bytes of accessed memory to marks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace tunec {

/// A map from the addresses of bytes to marks, which are initially `Mark{}`. The map stores marks
/// only for the pages that At has accessed.
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

  /// Returns the byte's mark, or null if At was never called for a byte of the same page.
  const Mark* Find(const std::byte* address) const {
    const auto number = reinterpret_cast<uintptr_t>(address);
    const auto page = pages_.find(number / kPageBytes);
    return page == pages_.end() ? nullptr : &page->second[number % kPageBytes];
  }

  /// Calls `visit(address, mark)` in the order of addresses, for each byte of each page that At has
  /// accessed. This includes bytes that At has not accessed.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [page, marks] : pages_) {
      for (size_t i = 0; i < marks.size(); ++i) {
        // Pages are keyed by number. NOLINTNEXTLINE(performance-no-int-to-ptr)
        visit(reinterpret_cast<const std::byte*>(page * kPageBytes + i), marks[i]);
      }
    }
  }

 private:
  static constexpr size_t kPageBytes = 256;
  using Page = std::array<Mark, kPageBytes>;

  std::map<uintptr_t, Page> pages_;
  Page* last_ = nullptr;  // page of the last call of At
  uintptr_t last_page_ = 0;
};

}  // namespace tunec
