// Definitions of tunec_load, which makes an executable from a bundle, and of load_options.h.
#include <memory>
#include <utility>

#include "api/run/guarded.h"
#include "api/run/load_options.h"

namespace tunec {

Result<BundleOptions> OptionsOf(const tunec_load_options* options) {
  tunec_load_options known = {};
  if (options != nullptr) {
    TUNEC_ASSIGN(known, CopyKnownMembers(*options, "load_options", "options", "members"));
  }
  constexpr size_t kMostThreads = 4096;
  if (known.threads > kMostThreads)
    return Fail(ErrorCode::kInvalidArgument, "options.threads is {}, expected 0 to {}",
                known.threads, kMostThreads);
  return BundleOptions{.threads = static_cast<int>(known.threads),
                       .share_threads = known.share_threads != 0,
                       .device = {.name = known.device != nullptr ? known.device : ""}};
}

std::unique_ptr<tunec_executable> ExecutableOf(LoadedBundle bundle) {
  auto executable = std::make_unique<tunec_executable>();
  executable->executable = std::move(bundle.executable);
  executable->any_shape = std::move(bundle.sized);
  executable->report = std::move(bundle.report);
  executable->file = std::move(bundle.file);
  if (!bundle.passed_over.empty()) executable->note = "skipped variants: " + bundle.passed_over;
  return executable;
}

}  // namespace tunec

extern "C" int tunec_load(const char* path, const tunec_load_options* options,
                          tunec_executable** out) {
  return tunec::Guarded([&]() -> tunec::Status {
    if (out != nullptr) *out = nullptr;
    if (path == nullptr || out == nullptr)
      return tunec::Fail(tunec::ErrorCode::kInvalidArgument, "{} is null",
                         out == nullptr ? "out" : "path");
    TUNEC_ASSIGN(const tunec::BundleOptions known, tunec::OptionsOf(options));
    TUNEC_ASSIGN(tunec::LoadedBundle bundle, tunec::LoadBundle(path, known));
    *out = tunec::ExecutableOf(std::move(bundle)).release();
    return {};
  });
}
