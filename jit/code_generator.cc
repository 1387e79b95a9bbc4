#include "jit/code_generator.h"

#include <algorithm>
#include <mutex>

#include "jit/cpu/cpu_generator.h"
#include "jit/cuda/cuda_generator.h"
#include "support/check.h"

namespace tunec {
namespace {

using Generator = std::shared_ptr<const CodeGenerator>;

struct KnownGenerators {
  std::mutex mutex;
  std::vector<Generator> list = {MakeCpuGenerator(), MakeCudaGenerator()};

  Generator Find(std::string_view name) const {
    const auto found = std::ranges::find(list, name, [](const auto& g) { return g->Name(); });
    return found == list.end() ? nullptr : *found;
  }
};

KnownGenerators& Known() {
  static KnownGenerators known;
  return known;
}

}  // namespace

Result<LoopNest> CodeGenerator::MapThreads(LoopNest nest) const {
  for (const NestStage& stage : Stages()) {
    TUNEC_ASSIGN(nest, stage.rewrite(nest));
  }
  return nest;
}

std::vector<Generator> CodeGenerators() {
  KnownGenerators& known = Known();
  const std::lock_guard lock(known.mutex);
  return known.list;
}

Result<Generator> GeneratorFor(const Target& target) {
  KnownGenerators& known = Known();
  const std::lock_guard lock(known.mutex);
  Generator generator = known.Find(target.Kind());
  if (generator == nullptr) {
    return Fail(ErrorCode::kUnsupported, "there is no code generator for {}", target.Kind());
  }
  return generator;
}

std::string CodeGeneratorVersion(const Target& target) {
  const Result<Generator> generator = GeneratorFor(target);
  return generator ? (*generator)->Version() : "no code generator";
}

RegisteredGenerator::RegisteredGenerator(Generator generator) : generator_(std::move(generator)) {
  KnownGenerators& known = Known();
  const std::lock_guard lock(known.mutex);
  TUNEC_CHECK(known.Find(generator_->Name()) == nullptr, "two code generators for {}",
              generator_->Name());
  known.list.push_back(generator_);
}

RegisteredGenerator::~RegisteredGenerator() {
  KnownGenerators& known = Known();
  const std::lock_guard lock(known.mutex);
  std::erase(known.list, generator_);
}

}  // namespace tunec
