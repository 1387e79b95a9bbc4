#include "support/own_folders.h"

#include <dlfcn.h>

#include <algorithm>
#include <system_error>

namespace tunec {
namespace {

namespace fs = std::filesystem;

// Does nothing. Only its address is used, which is inside the library or program that contains this
// code.
void Anchor() {}

void AddFoldersOf(const fs::path& file, std::vector<fs::path>& folders) {
  std::error_code problem;
  const fs::path whole = fs::canonical(file, problem);
  if (problem) return;
  const fs::path folder = whole.parent_path();
  const fs::path above = folder.parent_path();
  for (const fs::path& candidate :
       {folder, above / "bin", above / "libexec" / "tunec", above.parent_path() / "bin"})
    if (std::ranges::find(folders, candidate) == folders.end()) folders.push_back(candidate);
}

}  // namespace

std::vector<fs::path> OwnFolders() {
  std::vector<fs::path> folders;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&Anchor), &own) != 0 && own.dli_fname != nullptr)
    AddFoldersOf(own.dli_fname, folders);
  AddFoldersOf("/proc/self/exe", folders);
  return folders;
}

}  // namespace tunec
