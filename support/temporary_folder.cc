#include "support/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace tunec {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::Make() {
  std::error_code problem;
  const fs::path parent = fs::temp_directory_path(problem);
  if (problem)
    return Fail(ErrorCode::kIo, "cannot find a folder for temporary files: {}", problem.message());
  std::string pattern = (parent / "tunec-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    return Fail(ErrorCode::kIo, "cannot make a folder in {}: {}", parent.string(),
                std::strerror(errno));
  return TemporaryFolder(pattern);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace tunec
