#include "support/duration.h"

#include <charconv>
#include <cmath>
#include <string>

namespace tunec {

Result<double> ParseDuration(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  const double seconds = unit.empty() || unit == "s" ? 1
                         : unit == "m"               ? 60
                         : unit == "h"               ? 3600
                                                     : 0;
  const double duration = number * seconds;
  if (parsed.ec != std::errc() || !std::isfinite(duration) || duration <= 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "duration is '{}', expected a form such as 30s, 10m or 1h", text);
  }
  return duration;
}

}  // namespace tunec
