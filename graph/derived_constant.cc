#include "graph/derived_constant.h"

#include <fmt/ranges.h>

#include "support/hash.h"

namespace tunec {

ValueId AddDerivedConstant(GraphBuilder& builder, const std::string& name, Array array) {
  constexpr int64_t kMostInText = 16;
  if (array.size() <= kMostInText) return builder.AddConstant(name, std::move(array));
  // Equal keys must mean equal bytes, but a pass may reuse a value's name. So the key contains a
  // hash of the bytes.
  const std::string_view bytes(reinterpret_cast<const char*>(array.data()), array.bytes());
  const std::string hash = StableHash(bytes).substr(0, 8);
  std::string key =
      fmt::format("{}.{}.{}.{}", name, Name(array.type()), fmt::join(array.shape(), "x"), hash);
  return builder.AddConstant(name, std::move(array), std::move(key));
}

}  // namespace tunec
