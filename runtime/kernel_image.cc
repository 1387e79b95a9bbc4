#include "runtime/kernel_image.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

namespace tunec {
namespace {

constexpr std::string_view kHeader = "tunec-object 4 ";

/// Removes the text up to and including `end`, and returns the text before `end`. Returns none if
/// `end` does not occur.
std::optional<std::string_view> Take(std::string_view& text, char end) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return taken;
}

/// A reader of numbers and words. If an item is missing or wrong, ok() becomes false, and this item
/// and all later items are empty or 0.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  std::string_view rest() const { return text_; }

  std::string Word(char end) {
    const auto word = Take(text_, end);
    ok_ = ok_ && word && !word->empty();
    return std::string(ok_ ? *word : std::string_view());
  }
  int64_t Number(char end) {
    const std::string word = Word(end);
    int64_t number = 0;
    const char* const last = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), last, number);
    ok_ = ok_ && error == std::errc() && stop == last && number >= 0;
    return ok_ ? number : 0;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

// Limit of the blocks along y and along z. The product of two such numbers is within 64 bits.
constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max();

bool IsSound(const PhaseLaunch& launch) {
  if (launch.grid[1] > kMostBlocks || launch.grid[2] > kMostBlocks) return false;
  const int64_t across = launch.grid[1] * launch.grid[2];
  if (across > 0 && launch.grid[0] > std::numeric_limits<int64_t>::max() / across) return false;
  return launch.waves >= 1 && launch.Blocks() % launch.waves == 0;
}

PhaseLaunch TakeLaunch(Reader& reader) {
  PhaseLaunch launch;
  for (int64_t& blocks : launch.grid) blocks = reader.Number(' ');
  for (int64_t& threads : launch.block) threads = reader.Number(' ');
  launch.waves = reader.Number(' ');
  launch.shared_bytes = reader.Number(' ');
  launch.registers = reader.Number(' ');
  launch.spilled_bytes = reader.Number(' ');
  launch.local_bytes = reader.Number(' ');
  launch.symbol = reader.Word('\n');
  return launch;
}

}  // namespace

std::string Serialize(const KernelImage& image) {
  std::string text = fmt::format("{}{} {} {} {} {}\n", kHeader, image.format, image.workspace_bytes,
                                 image.scratch_bytes, image.phases.size(), image.bytes.size());
  for (const PhaseLaunch& launch : image.phases) {
    for (const int64_t blocks : launch.grid) text += fmt::format("{} ", blocks);
    for (const int64_t threads : launch.block) text += fmt::format("{} ", threads);
    text += fmt::format("{} {} {} {} {} {}\n", launch.waves, launch.shared_bytes, launch.registers,
                        launch.spilled_bytes, launch.local_bytes, launch.symbol);
  }
  return text + image.bytes;
}

Result<KernelImage> ParseKernelImage(std::string_view text) {
  const auto damaged = [] { return Fail(ErrorCode::kParse, "damaged object code"); };
  if (!text.starts_with(kHeader)) return Fail(ErrorCode::kParse, "no object code of version 4");
  Reader reader(text.substr(kHeader.size()));
  KernelImage image;
  image.format = reader.Word(' ');
  image.workspace_bytes = reader.Number(' ');
  image.scratch_bytes = reader.Number(' ');
  const int64_t phases = reader.Number(' ');
  const int64_t size = reader.Number('\n');
  for (int64_t i = 0; i < phases && reader.ok(); ++i) {
    image.phases.push_back(TakeLaunch(reader));
    if (!IsSound(image.phases.back())) return damaged();
  }
  if (!reader.ok() || static_cast<int64_t>(reader.rest().size()) != size) return damaged();
  image.bytes = reader.rest();
  return image;
}

}  // namespace tunec
