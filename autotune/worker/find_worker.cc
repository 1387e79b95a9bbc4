#include "autotune/worker/find_worker.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <vector>

#include "support/own_folders.h"

namespace tunec {

Result<std::string> FindWorker() {
  std::vector<std::string> sought;
  for (const std::filesystem::path& folder : OwnFolders()) {
    std::string path = (folder / "tunec-worker").string();
    if (access(path.c_str(), X_OK) == 0) return path;
    sought.push_back(std::move(path));
  }
  return Fail(ErrorCode::kNotFound, "tunec-worker not found in {}", fmt::join(sought, ", "));
}

}  // namespace tunec
