#include "tests/networks/load_npz.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "numpy/npz.h"

namespace tunec {

Result<std::map<std::string, Array>> LoadNpz(const std::string& path) {
  TUNEC_ASSIGN(const auto members, ReadNpz(path));
  std::map<std::string, Array> arrays;
  for (const NamedArray& member : members) {
    Array array(member.spec.type, member.spec.shape);
    if (array.size() > 0) std::memcpy(array.mutable_data(), member.bytes.data(), array.bytes());
    arrays.emplace(member.spec.name, std::move(array));
  }
  return arrays;
}

Result<std::vector<Array>> InputsByName(const Graph& graph,
                                        const std::map<std::string, Array>& arrays) {
  std::vector<Array> inputs;
  for (const ValueId input : graph.inputs()) {
    const auto it = arrays.find(graph.value(input).name);
    if (it == arrays.end()) {
      return Fail(ErrorCode::kNotFound, "no array for input '{}'", graph.value(input).name);
    }
    inputs.push_back(it->second);
  }
  return inputs;
}

double RelativeError(const Array& actual, const Array& expected) {
  if (actual.shape() != expected.shape()) return std::numeric_limits<double>::infinity();
  double difference = 0;
  double magnitude = 1e-30;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double reference = expected.GetDouble(i);
    const double have = actual.GetDouble(i);
    if (have == reference || (std::isnan(have) && std::isnan(reference))) {
      if (std::isfinite(reference)) magnitude = std::max(magnitude, std::abs(reference));
      continue;
    }
    const double apart = std::abs(have - reference);
    difference = std::max(difference, std::isnan(apart) ? HUGE_VAL : apart);
    if (std::isfinite(reference)) magnitude = std::max(magnitude, std::abs(reference));
  }
  return difference / magnitude;
}

}  // namespace tunec
