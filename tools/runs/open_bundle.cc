#include "tools/runs/open_bundle.h"

#include <span>
#include <utility>

#include "ir/allocate_array.h"
#include "support/file.h"
#include "support/random.h"

namespace tunec {

bool IsBundleFile(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file) return false;
  const std::span<const std::byte> bytes = (*file)->bytes();
  return bundle::IsBundle({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<LoadedBundle> OpenBundle(const CompileArguments& arguments) {
  return LoadBundle(arguments.model, {.threads = arguments.settings.threads,
                                      .share_threads = arguments.settings.share_threads});
}

Result<std::vector<Array>> BundleInputs(const Executable& executable, const ArrayFile& given,
                                        uint64_t seed) {
  if (!given.file.empty()) return SelectArrays(given.arrays, executable.Inputs(), given.file);
  return RandomArrays(executable.Inputs(), seed);
}

Result<std::vector<Array>> RandomArrays(std::span<const TensorSpec> specs, uint64_t seed) {
  std::vector<Array> inputs;
  for (const TensorSpec& spec : specs) {
    TUNEC_ASSIGN(Array input, AllocateArray(spec.type, spec.shape, "input " + spec.name));
    Random random(StreamSeed(seed, spec.name));
    for (int64_t i = 0; i < input.size(); ++i) {
      if (IsFloat(spec.type)) {
        input.SetDouble(i, 2.0 * random.Unit() - 1.0);
      } else {
        input.SetInt(i, static_cast<int64_t>(random.Below(2)));
      }
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace tunec
