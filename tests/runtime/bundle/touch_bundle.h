// A bundle that anyone may have written, loaded and run: in the place of its code stand functions
// of this program, and a GPU that a script plays, which read or write each byte that the code's
// contracts allow it. So the address sanitizer sees an argument that is not there. What the
// contracts say beside that is looked at: alignment, and indices that code would trust.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/random.h"

namespace tunec::testing {

enum class Touched : uint8_t {
  kRefused,   // when it was loaded, or when it was to run
  kTooLarge,  // for a test: it asks for more memory than that gives
  kRan,
};

/// `scripted_cuda` is the library that plays a driver; it is kept loaded.
class BundleToucher {
 public:
  explicit BundleToucher(const std::string& scripted_cuda);
  ~BundleToucher();
  BundleToucher(const BundleToucher&) = delete;
  BundleToucher& operator=(const BundleToucher&) = delete;

  /// One variant, on buffers that sometimes are each other's: which of them, `random` says. A
  /// contract that is not kept ends the process.
  Touched Run(std::span<const std::byte> bundle, uint32_t variant, Random& random);

 private:
  struct Impl;
  Impl* const impl_;
};

}  // namespace tunec::testing
