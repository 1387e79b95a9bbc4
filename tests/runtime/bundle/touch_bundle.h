// A runner of untrusted bundles. A bundle's code is replaced by functions of this program, and the
// GPU by a scripted driver. The functions access each byte that the contracts of the code allow, so
// that the address sanitizer detects bad arguments. The functions also check alignment and trusted
// indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "support/random.h"

namespace tunec::testing {

enum class Touched : uint8_t {
  kRejected,  // at loading or before running
  kTooLarge,  // for a test: it needs more memory than the test provides
  kRan,
};

/// A runner of bundles. `scripted_cuda` is the path of the library with the scripted driver. The
/// library stays loaded.
class BundleToucher {
 public:
  explicit BundleToucher(const std::string& scripted_cuda);
  ~BundleToucher();
  BundleToucher(const BundleToucher&) = delete;
  BundleToucher& operator=(const BundleToucher&) = delete;

  /// Tries to run one variant, with sizes or shared buffers that `random` chooses. A detected
  /// violation of a contract ends the process.
  Touched Run(std::span<const std::byte> bundle, uint32_t variant, Random& random);

 private:
  struct Impl;
  Impl* const impl_;
};

}  // namespace tunec::testing
