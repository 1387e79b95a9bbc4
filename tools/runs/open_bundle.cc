#include "tools/runs/open_bundle.h"

#include <fstream>
#include <utility>

#include "ir/allocate_array.h"
#include "support/random.h"

namespace tunec {

bool IsBundleFile(const std::string& path) {
  std::string begin(bundle::kMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file.good() && bundle::IsBundle(begin);
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
