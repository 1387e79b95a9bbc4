// tunec_load: a bundle becomes what tunec_run runs.
#include <memory>

#include "api/run/executable.h"
#include "api/run/guarded.h"
#include "runtime/bundle/load_bundle.h"

namespace tunec {
namespace {

Result<BundleOptions> OptionsOf(const tunec_load_options* options) {
  tunec_load_options known = {};
  if (options != nullptr) {
    TUNEC_ASSIGN(known, KnownPart(*options, "load_options", "options", "members"));
  }
  constexpr size_t kMostThreads = 4096;
  if (known.threads > kMostThreads)
    return Fail(ErrorCode::kInvalidArgument, "options.threads is {}, expected 0 to {}",
                known.threads, kMostThreads);
  return BundleOptions{.threads = static_cast<int>(known.threads),
                       .share_threads = known.share_threads != 0};
}

}  // namespace
}  // namespace tunec

extern "C" int tunec_load(const char* path, const tunec_load_options* options,
                          tunec_executable** out) {
  return tunec::Guarded([&]() -> tunec::Status {
    if (out != nullptr) *out = nullptr;
    if (path == nullptr || out == nullptr)
      return tunec::Fail(tunec::ErrorCode::kInvalidArgument, "{} is null",
                         out == nullptr ? "out" : "path");
    TUNEC_ASSIGN(const tunec::BundleOptions known, tunec::OptionsOf(options));
    TUNEC_ASSIGN(const tunec::LoadedBundle bundle, tunec::LoadBundle(path, known));
    *out = std::make_unique<tunec_executable>(bundle.executable, bundle.report, bundle.sized)
               .release();
    return {};
  });
}
