#include "tests/runtime/bundle/try_bundles.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "runtime/bundle/bundle_file.h"
#include "support/check.h"
#include "tests/runtime/bundle/mutate_bundle.h"

namespace tunec::testing {
namespace {

constexpr size_t kPage = 4096;

/// A copy of a bundle's bytes, page-aligned like a mapped file.
class PageCopy {
 public:
  explicit PageCopy(const std::string& bytes) : size_(bytes.size()) {
    void* memory = nullptr;
    TUNEC_CHECK(posix_memalign(&memory, kPage, size_) == 0, "no memory");
    memory_.reset(static_cast<std::byte*>(memory));
    std::memcpy(memory, bytes.data(), size_);
  }
  std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t size_;
};

}  // namespace

Touched TryBundle(BundleToucher& toucher, const std::string& bundle, uint32_t variant,
                  Random& random) {
  const PageCopy copy(bundle);
  return toucher.Run(copy.bytes(), variant, random);
}

TriedBundles TryMutants(BundleToucher& toucher, const std::string& whole, uint64_t count,
                        uint64_t seed) {
  const BundleMutator mutator(whole);
  ThreadPool pool(1);
  const PageCopy original(whole);
  const auto file = bundle::BundleFile::Read({.bytes = original.bytes()}, pool);
  TUNEC_CHECK(file.has_value(), "{}", file.error().Format());
  TriedBundles tried;
  for (uint64_t i = 0; i < count; ++i) {
    Random random(StreamSeed(seed, std::to_string(i)));
    const auto variant = static_cast<uint32_t>(random.Below(file->Variants()));
    const std::string mutant = mutator.Change(random, variant);
    switch (TryBundle(toucher, mutant, variant, random)) {
      case Touched::kRejected:
        ++tried.rejected;
        break;
      case Touched::kTooLarge:
        ++tried.too_large;
        break;
      case Touched::kRan:
        ++tried.ran;
    }
  }
  return tried;
}

uint64_t CountStaleAccepted(const std::string& whole, uint64_t count, uint64_t seed) {
  const BundleMutator mutator(whole);
  ThreadPool pool(1);
  Random random(seed);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const PageCopy copy(mutator.ChangeByte(random));
    accepted += bundle::CheckSections(copy.bytes(), pool).has_value() ? 1 : 0;
  }
  return accepted;
}

}  // namespace tunec::testing
