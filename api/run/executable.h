// What a tunec_executable is.
#pragma once

#include <memory>
#include <string>

#include "api/include/tunec/tunec.h"
#include "runtime/any_shape.h"
#include "runtime/executable.h"

/// One of the two is there.
struct tunec_executable {
  std::shared_ptr<const tunec::Executable> executable;
  std::string report;  // as JSON
  std::shared_ptr<const tunec::AnyShape> any_shape;
  std::string note = {};  // how it was loaded, a line for tunec_notes
};
