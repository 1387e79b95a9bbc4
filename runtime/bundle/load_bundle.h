// Loading of a bundle as an Executable or a SizedBundle. Nothing is compiled or linked.
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

/// Options of LoadBundle.
struct BundleOptions {
  /// Number of threads of the pool. 0: the number for which the variant was built, but at most the
  /// number of usable processors.
  int threads = 0;
  bool share_threads = false;  // use the pool that SharedPool returns
  /// Number of the variant; none: the first that this machine can run, with variants for a device
  /// first.
  std::optional<uint32_t> variant = std::nullopt;
  /// Choice of the device: a GPU's number or UUID, or "cpu" (bundle::kHostOnly); empty: no
  /// restriction.
  DeviceChoice device = {};
};

/// A loaded bundle. Exactly one of the first two members is not null.
struct LoadedBundle {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const SizedBundle> sized = nullptr;  // for a dynamic-shape model
  uint32_t variant = 0;
  std::string report;       // the compiler's report, JSON; empty: none was stored
  std::string passed_over;  // why preferred variants were skipped; empty: no variant was skipped
  /// The file, which the C interface checks before each run; null: the bundle was in memory.
  std::shared_ptr<const WatchedFile> file = nullptr;
};

/// Loads the bundle in a file. The file is mapped, and its weights and code are used in place. So
/// the file may be replaced (another file is renamed over it), but must not be written or
/// truncated. Errors: those of BundleFile::Open, of reading a plan with its code, and of
/// Executable::Make. Fails with kInvalidArgument if the bundle has no variant `variant`. Fails with
/// kDevice, and the reason for each tried variant, if no tried variant runs here.
Result<LoadedBundle> LoadBundle(const std::filesystem::path& path,
                                const BundleOptions& options = {});
/// Loads a bundle from mapped bytes. Code in the bytes may be made executable. Errors: those of the
/// function above, but those of BundleFile::Read instead of Open.
Result<LoadedBundle> LoadBundle(bundle::BundleBytes bytes, const BundleOptions& options = {});

namespace bundle {

/// Returns the targets of the variants of a bundle. Fails with kParse if one is damaged.
Result<std::vector<VariantHead>> ReadHeads(const BundleFile& file);

}  // namespace bundle
}  // namespace tunec
