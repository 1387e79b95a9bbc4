// What a tunec_executable is.
#pragma once

#include <memory>
#include <string>

#include "api/include/tunec/tunec.h"
#include "runtime/executable.h"

struct tunec_executable {
  std::shared_ptr<const tunec::Executable> executable;
  std::string report;  // as JSON
};
