// A bundle to an Executable: nothing is compiled, linked or packed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bundle/bundle_file.h"
#include "runtime/bundle/sized_bundle.h"
#include "runtime/bundle/variant_head.h"
#include "runtime/device.h"
#include "runtime/executable.h"
#include "runtime/thread_pool.h"
#include "support/error.h"

namespace tunec {

struct BundleOptions {
  /// Of the pool; 0: as many as the variant was built for, but no more than there are processors.
  int threads = 0;
  bool share_threads = false;  // of the pool that SharedPool makes
  /// Which variant; none: the first that this machine can run, those for a device before others.
  std::optional<uint32_t> variant = std::nullopt;
  /// Its name is a GPU's number or UUID, or "cpu" (bundle::kHostOnly); empty: any.
  DeviceChoice device = {};
};

/// One of the first two is there.
struct LoadedBundle {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const SizedBundle> sized = nullptr;  // of a model whose sizes are open
  uint32_t variant = 0;
  std::string report;       // of the compiler, JSON; empty: none was stored
  std::string passed_over;  // why variants that would have been preferred are not run; empty: none
  /// Tells before a run if it was changed; null: the bytes are no file's.
  std::shared_ptr<const WatchedFile> file = nullptr;
};

/// The file is mapped, and its weights and code are used where they are, so it may be replaced by
/// another (renamed over) while it is used, but never written to or cut short. Errors: those of
/// BundleFile::Open; kParse for a plan that does not stay within its buffers; kDevice, which names
/// what is missing, where no variant runs here; those of Executable::Make.
Result<LoadedBundle> LoadBundle(const std::filesystem::path& path,
                                const BundleOptions& options = {});
/// The same of bytes that are mapped already. Code in them is made executable.
Result<LoadedBundle> LoadBundle(bundle::BundleBytes bytes, const BundleOptions& options = {});

namespace bundle {

/// The variants of a bundle.
Result<std::vector<VariantHead>> ReadHeads(const BundleFile& file);

}  // namespace bundle
}  // namespace tunec
