// A function that returns the whole table of operators. Only graph/onnx uses this file.
#pragma once

#include <vector>

#include "graph/onnx/handlers/handlers.h"

namespace tunec::onnx_import {

/// Returns all handlers, sorted by domain and name.
std::vector<const Handler*> AllHandlers();

}  // namespace tunec::onnx_import
