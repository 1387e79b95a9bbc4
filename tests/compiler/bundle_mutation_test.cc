// Bundles that someone changed. With stale hashes all are refused. With hashes made right again,
// and anything changed but the code, they are refused, or run inside their buffers: in the place of
// the machine code stand functions of this program, which touch each byte that the kernel may
// touch, so that the address sanitizer sees one that is not there.
//
// TUNEC_BUNDLE_MUTATIONS and TUNEC_STALE_BUNDLES say how many of each (a short run without).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>

#include "compiler/bundle/write_bundle.h"
#include "runtime/bundle/load_bundle.h"
#include "runtime/bundle/read_plan.h"
#include "runtime/bundle/read_sizes.h"
#include "runtime/bundle/section_hash.h"
#include "runtime/bundle/stored_plan.h"
#include "support/file.h"
#include "support/random.h"
#include "tests/compiler/bundle_models.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using bundle::Header;
using bundle::KernelContract;
using bundle::SectionEntry;
using bundle::SectionKind;
using testing::BundlePath;
using testing::GraphOf;
using testing::kManyKinds;
using testing::VariantOf;

int64_t CountFrom(const char* variable, int64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

// What the functions below stand for.
constexpr size_t kMostKernels = 128;
std::vector<KernelContract> contracts;
volatile std::byte seen;

// Reads or writes all bytes of each argument, of the workspace and of the scratch.
void Touch(size_t number, void* const* arguments, void* workspace, void* scratch) {
  const KernelContract& kernel = contracts[number];
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(arguments[i]);
    const int64_t size = kernel.arguments[i].bytes;
    if (kernel.arguments[i].written) {
      std::memset(arguments[i], 1, static_cast<size_t>(size));
    } else {
      for (int64_t at = 0; at < size; ++at) seen = bytes[at];
    }
  }
  if (kernel.workspace_bytes > 0)
    std::memset(workspace, 1, static_cast<size_t>(kernel.workspace_bytes));
  if (kernel.scratch_bytes > 0) std::memset(scratch, 1, static_cast<size_t>(kernel.scratch_bytes));
}

template <size_t number>
void TouchAs(void* const* arguments, void* workspace, void* scratch, int64_t) {
  Touch(number, arguments, workspace, scratch);
}

template <size_t... numbers>
PhaseFunction FunctionOf(size_t number, std::index_sequence<numbers...>) {
  static constexpr PhaseFunction kFunctions[] = {TouchAs<numbers>...};
  return kFunctions[number];
}

Result<std::vector<Kernel>> TouchingKernels(const std::vector<KernelContract>& kernels,
                                            std::span<const std::byte>, const bundle::CodeParts&) {
  // The table was changed, and other bytes are taken for the code.
  if (kernels.size() > kMostKernels) return Fail(ErrorCode::kUnsupported, "too many kernels");
  contracts = kernels;
  std::vector<Kernel> touching;
  for (size_t i = 0; i < kernels.size(); ++i)
    touching.push_back(
        {.phases = {{.function = FunctionOf(i, std::make_index_sequence<kMostKernels>())}},
         .workspace_bytes = kernels[i].workspace_bytes,
         .scratch_bytes = kernels[i].scratch_bytes});
  return touching;
}

/// A bundle's bytes, to be changed.
class Mutant {
 public:
  explicit Mutant(const std::string& bytes) : bytes_(bytes) {}

  /// Sections that are not code; empty ones are left alone.
  std::vector<SectionEntry> Targets() const {
    std::vector<SectionEntry> targets;
    for (const SectionEntry& section : Table())
      if (section.kind != SectionKind::kCode && section.bytes > 0) targets.push_back(section);
    return targets;
  }
  void ChangeByte(Random& random, uint64_t begin, uint64_t bytes) {
    bytes_[begin + random.Below(bytes)] ^= static_cast<char>(1 + random.Below(255));
  }
  /// A number of 8 bytes, wherever one may stand, becomes another one that is likely to mean
  /// something: a neighbour, a bound, one from elsewhere.
  void ChangeNumber(Random& random, uint64_t begin, uint64_t bytes) {
    if (bytes < 8) return ChangeByte(random, begin, bytes);
    const uint64_t at = begin + random.Below(bytes - 7);
    uint64_t value = 0;  // of numbers with a sign, too
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    const uint64_t choices[] = {value + 1,
                                value - 1,
                                0 - value,
                                value * 2,
                                value + 64,
                                value - 64,
                                0,
                                UINT64_MAX,
                                INT64_MAX,
                                uint64_t{1} << 63,
                                random.Below(4),
                                random.Below(1 << 20)};
    value = choices[random.Below(std::size(choices))];
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void RepairHashes() {
    ThreadPool pool(1);
    Header header = HeaderOf();
    const size_t room = (bytes_.size() - sizeof header) / sizeof(SectionEntry);
    const size_t sections = std::min<size_t>(header.sections, room);
    for (size_t i = 0; i < sections; ++i) {
      SectionEntry section;
      char* const entry = bytes_.data() + sizeof header + i * sizeof section;
      std::memcpy(&section, entry, sizeof section);
      if (section.offset > bytes_.size() || section.bytes > bytes_.size() - section.offset)
        continue;
      section.hash = bundle::HashOf(
          std::as_bytes(std::span(bytes_)).subspan(section.offset, section.bytes), pool);
      std::memcpy(entry, &section, sizeof section);
    }
    header.table_hash = 0;
    std::memcpy(bytes_.data(), &header, sizeof header);
    header.table_hash = bundle::HashOf(
        std::as_bytes(std::span(bytes_)).first(sizeof header + sections * sizeof(SectionEntry)),
        pool);
    std::memcpy(bytes_.data(), &header, sizeof header);
  }
  std::vector<SectionEntry> Table() const {
    std::vector<SectionEntry> table(HeaderOf().sections);
    std::memcpy(table.data(), bytes_.data() + sizeof(Header), table.size() * sizeof(SectionEntry));
    return table;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Header HeaderOf() const {
    Header header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    return header;
  }
  std::string bytes_;
};

std::string SomeBundle() {
  const BundlePath file;
  const Graph graph = GraphOf(kManyKinds);
  BundleVariant packing = VariantOf(graph, "native,+amx-fp16");
  EXPECT_TRUE(WriteBundle(file.path(), {VariantOf(graph), std::move(packing)}));
  return *ReadFile(file.path());
}

std::string SomeSizedBundle() {
  const BundlePath file;
  const SizedSource source = testing::SourceOf(testing::kOpenSizes, {"batch", "length"});
  const std::vector<ListedSizes> listed = {{.sizes = {2, 3}},
                                           {.sizes = RoundedSizes(7, 12), .exact = false}};
  EXPECT_TRUE(
      WriteBundle(file.path(), {testing::SizedVariantOf(source, listed),
                                testing::SizedVariantOf(source, listed, "native,+amx-fp16")}));
  return *ReadFile(file.path());
}

// What a machine of any size would be asked for says nothing of buffers.
constexpr int64_t kMostBytes = int64_t{1} << 28;
int64_t Wanted(const ExecutablePlan& plan) {
  int64_t wanted = plan.arena_bytes;
  for (const auto* specs : {&plan.inputs, &plan.outputs})
    for (const TensorSpec& spec : *specs)
      wanted = std::max(wanted, ByteSize(spec).value_or(kMostBytes + 1));
  for (const Constant& constant : plan.constants) wanted = std::max(wanted, constant.bytes);
  return wanted;
}

/// One run of a model of open sizes, in buffers of just its own bytes. Whether it ran.
bool RunAt(const SizedBundle& model, const Sizes& sizes) {
  std::vector<TensorSpec> inputs = model.form().inputs;
  for (const SizedAxis& axis : model.form().open)
    inputs[axis.input].shape[axis.axis] = sizes[axis.dimension];
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : inputs) {
    if (ByteSize(spec).value_or(kMostBytes + 1) > kMostBytes) return false;
    shapes.push_back(spec.shape);
  }
  const auto results = model.OutputShapes(shapes);
  if (!results) return false;
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const TensorSpec& spec : inputs) from.push_back(memory.emplace_back(*ByteSize(spec)).data());
  for (size_t i = 0; i < results->size(); ++i) {
    const int64_t bytes = ByteSize({"", model.Outputs()[i].type, (*results)[i]}).value();
    if (bytes > kMostBytes) return false;
    to.push_back(memory.emplace_back(bytes).data());
  }
  return model.Run(shapes, from, to).has_value();
}

/// The plans of one variant of several sizes with touching kernels: refused, or run at some sizes.
/// Whether one ran.
bool LoadAndTouchSizes(const bundle::BundleFile& file, uint32_t variant, Random& random) {
  auto plans = bundle::ReadSizedPlans(file, variant, TouchingKernels);
  if (!plans) return false;
  for (SizedPlan& plan : plans->plans) {
    plan.plan.threads = 1;
    if (Wanted(plan.plan) > kMostBytes) return false;
  }
  const SizedBundle model(std::move(plans->form), std::move(plans->plans),
                          std::make_shared<ThreadPool>(1), "");
  bool ran = false;
  for (int run = 0; run < 6; ++run) {
    Sizes sizes;
    for (const ListedSizes& listed : model.form().listed)
      sizes.push_back(random.Below(2) == 0
                          ? std::min<int64_t>(listed.sizes[random.Below(listed.sizes.size())], 64)
                          : 1 + static_cast<int64_t>(random.Below(14)));
    ran = RunAt(model, sizes) || ran;
  }
  return ran;
}

/// The plan of one variant with touching kernels: refused, or run once. Whether it ran.
bool LoadAndTouch(const std::filesystem::path& path, uint32_t variant, Random& random) {
  ThreadPool pool(1);
  const auto file = bundle::BundleFile::Open(path, pool);
  if (!file || variant >= file->Variants() || !bundle::ReadHeads(*file)) return false;
  if (file->Has(SectionKind::kSizes, variant)) return LoadAndTouchSizes(*file, variant, random);
  auto plan = bundle::ReadPlan(*file, variant, TouchingKernels);
  if (!plan) return false;
  plan->threads = 1;
  if (Wanted(*plan) > kMostBytes) return false;
  const auto executable = Executable::Make(*std::move(plan));
  if (!executable) return false;
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const TensorSpec& spec : executable->Inputs())
    from.push_back(memory.emplace_back(*ByteSize(spec)).data());
  for (const TensorSpec& spec : executable->Outputs())
    to.push_back(memory.emplace_back(*ByteSize(spec)).data());
  return executable->Run(from, to).has_value();
}

TEST(BundleMutation, StaleHashesAreRefused) {
  const std::string whole = SomeBundle();
  const BundlePath file;
  ThreadPool pool(1);
  Random random(1);
  const int64_t count = CountFrom("TUNEC_STALE_BUNDLES", 2000);
  for (int64_t i = 0; i < count; ++i) {
    std::string changed = whole;
    const uint64_t at = random.Below(changed.size());
    changed[at] ^= static_cast<char>(1 + random.Below(255));
    const auto bytes = std::as_bytes(std::span(changed));
    EXPECT_FALSE(bundle::CheckSections(bytes, pool)) << "byte " << at;
  }
}

void ExpectInsideBuffers(const std::string& whole, uint64_t seed) {
  const BundlePath file;
  Random random(seed);
  const int64_t count = CountFrom("TUNEC_BUNDLE_MUTATIONS", 2000);
  int64_t ran = 0;
  for (int64_t i = 0; i < count; ++i) {
    Mutant mutant(whole);
    const std::vector<SectionEntry> targets = mutant.Targets();
    const uint64_t changes = 1 + random.Below(3);
    for (uint64_t change = 0; change < changes; ++change) {
      // Now and then the header and the table; they name the code, but do not hold it.
      const SectionEntry& target = targets[random.Below(targets.size())];
      const bool front = random.Below(8) == 0;
      const uint64_t begin = front ? 0 : target.offset;
      const uint64_t bytes =
          front ? sizeof(Header) + mutant.Table().size() * sizeof(SectionEntry) : target.bytes;
      if (random.Below(3) == 0) {
        mutant.ChangeByte(random, begin, bytes);
      } else {
        mutant.ChangeNumber(random, begin, bytes);
      }
      if (front) break;  // the table that Targets read is no longer to be believed
    }
    mutant.RepairHashes();
    // Not as WriteFileAtomically does it, which waits for the disk.
    std::ofstream(file.path(), std::ios::binary) << mutant.bytes();
    for (uint32_t variant = 0; variant < 2; ++variant)
      ran += LoadAndTouch(file.path(), variant, random) ? 1 : 0;
  }
  fmt::print("{} of {} mutants ran\n", ran, 2 * count);
  EXPECT_GT(ran, 0);
}

TEST(BundleMutation, WithRepairedHashesIsRefusedOrRunsInsideItsBuffers) {
  ExpectInsideBuffers(SomeBundle(), 2);
}

TEST(BundleMutation, OfSeveralSizesIsRefusedOrRunsInsideItsBuffers) {
  ExpectInsideBuffers(SomeSizedBundle(), 4);
}

// Code takes indices that were constants in range as they are.
TEST(BundleMutation, IndicesThatCodeTrustsAreLookedAt) {
  const std::string whole = SomeBundle();
  const BundlePath file;
  const Mutant original(whole);
  const std::span bytes = std::as_bytes(std::span(whole));
  uint64_t weights = 0;
  int64_t rows = -1;
  for (const SectionEntry& section : original.Table()) {
    if (section.kind == SectionKind::kWeights) weights = section.offset;
    if (section.kind != SectionKind::kPlan || section.variant != 0) continue;
    const auto plan = bundle::ParsePlan(bytes.subspan(section.offset, section.bytes));
    ASSERT_TRUE(plan);
    for (const bundle::StoredConstant& constant : plan->constants)
      if (constant.name == "rows") rows = constant.place;
  }
  ASSERT_GE(rows, 0);
  std::string changed = whole;
  changed[weights + static_cast<uint64_t>(rows)] = 4;  // of rows 0 to 3
  Mutant mutant(changed);
  mutant.RepairHashes();
  ASSERT_TRUE(WriteFileAtomically(file.path(), mutant.bytes()));
  const auto loaded = LoadBundle(file.path());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kParse);
  EXPECT_THAT(loaded.error().message, ::testing::HasSubstr("indices lie outside 0 to 3"));
}

TEST(BundleMutation, TheWholeOneRuns) {
  const std::string whole = SomeBundle();
  const BundlePath file;
  Mutant mutant(whole);
  mutant.RepairHashes();
  EXPECT_EQ(mutant.bytes(), whole);
  ASSERT_TRUE(WriteFileAtomically(file.path(), whole));
  Random random(5);
  EXPECT_TRUE(LoadAndTouch(file.path(), 0, random));
  EXPECT_TRUE(LoadAndTouch(file.path(), 1, random));
  ASSERT_TRUE(WriteFileAtomically(file.path(), SomeSizedBundle()));
  EXPECT_TRUE(LoadAndTouch(file.path(), 0, random));
  EXPECT_TRUE(LoadAndTouch(file.path(), 1, random));
}

}  // namespace
}  // namespace tunec
