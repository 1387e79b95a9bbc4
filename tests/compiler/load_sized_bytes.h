// Loading of dynamic-shape models from memory, for tests.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <variant>

#include "compiler/sized/load_sized.h"
#include "support/check.h"

namespace tunec::testing {

/// Loads a model of which at least one dimension is dynamic.
inline Result<SizedSource> LoadSizedBytes(std::span<const std::byte> bytes, std::string_view format,
                                          const ModelOptions& options) {
  TUNEC_ASSIGN(AnyModel model, LoadAnyModelBytes(bytes, format, options));
  TUNEC_CHECK(std::holds_alternative<SizedSource>(model), "the model has fixed sizes");
  return std::get<SizedSource>(std::move(model));
}

}  // namespace tunec::testing
