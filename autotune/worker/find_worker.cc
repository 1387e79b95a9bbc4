#include "autotune/worker/find_worker.h"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace tunec {
namespace {

// Only its address is used: it lies in the library or program that this code is linked into.
void Anchor() {}

std::vector<std::filesystem::path> OwnFolders() {
  std::vector<std::filesystem::path> folders;
  std::error_code problem;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&Anchor), &own) != 0 && own.dli_fname != nullptr) {
    const auto path = std::filesystem::canonical(own.dli_fname, problem);
    if (!problem) folders.push_back(path.parent_path());
  }
  const auto program = std::filesystem::canonical("/proc/self/exe", problem);
  if (!problem) folders.push_back(program.parent_path());
  return folders;
}

}  // namespace

Result<std::string> FindWorker() {
  constexpr const char* kName = "tunec-worker";
  std::vector<std::string> sought;
  for (const std::filesystem::path& folder : OwnFolders()) {
    const std::filesystem::path above = folder.parent_path();
    for (const std::filesystem::path& place :
         {folder, above / "bin", above / "libexec" / "tunec", above.parent_path() / "bin"}) {
      std::string path = (place / kName).string();
      if (access(path.c_str(), X_OK) == 0) return path;
      if (std::ranges::find(sought, path) == sought.end()) sought.push_back(path);
    }
  }
  return Fail(ErrorCode::kNotFound, "there is no tunec-worker; sought {}", fmt::join(sought, ", "));
}

}  // namespace tunec
