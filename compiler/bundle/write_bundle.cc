#include "compiler/bundle/write_bundle.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "runtime/bundle/format.h"
#include "runtime/bundle/section_hash.h"
#include "runtime/bundle/stored_sizes.h"
#include "runtime/thread_pool.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/processors.h"

namespace tunec {
namespace {

using bundle::AlignmentOf;
using bundle::AlignUp;
using bundle::SectionEntry;
using bundle::SectionKind;

/// The layout of all variants' weights in the section of weights. Equal weights are stored once.
class WeightLayout {
 public:
  /// Returns the offset of these bytes; equal bytes have the same offset.
  int64_t OffsetOf(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [known, is_new] = offsets_.emplace(std::pair(bytes.size(), StableHash(text)), 0);
    if (!is_new) return known->second;
    const uint64_t alignment =
        bytes.size() >= bundle::kPage ? bundle::kPage : bundle::kConstantAlignment;
    end_ = AlignUp(end_, alignment);
    known->second = static_cast<int64_t>(end_);
    parts_.push_back({.offset = static_cast<int64_t>(end_), .bytes = bytes});
    end_ += bytes.size();
    return known->second;
  }
  std::span<const FilePart> parts() const { return parts_; }
  uint64_t bytes() const { return end_; }

 private:
  std::map<std::pair<size_t, std::string>, int64_t> offsets_;
  std::vector<FilePart> parts_;
  uint64_t end_ = 0;
};

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A writer of the consecutive sections of a bundle. The result is a list of parts of the file.
class BundleWriter {
 public:
  void Add(SectionKind kind, uint32_t variant, std::string bytes) {
    const std::string& buffer =
        *buffers_.emplace_back(std::make_unique<std::string>(std::move(bytes)));
    const uint64_t offset = Begin(kind, variant, buffer.size());
    sections_.back().hash = bundle::HashOf(BytesOf(buffer), pool_);
    parts_.push_back({.offset = static_cast<int64_t>(offset), .bytes = BytesOf(buffer)});
  }
  void Add(const WeightLayout& weights) {
    // This last section begins at a page. If it had 0 bytes, the file would end before this offset.
    // So it has at least kConstantAlignment bytes.
    std::string whole(std::max(weights.bytes(), bundle::kConstantAlignment), '\0');
    const uint64_t offset = Begin(SectionKind::kWeights, 0, whole.size());
    for (const FilePart& part : weights.parts())
      std::memcpy(whole.data() + part.offset, part.bytes.data(), part.bytes.size());
    sections_.back().hash = bundle::HashOf(BytesOf(whole), pool_);
    const std::string& buffer =
        *buffers_.emplace_back(std::make_unique<std::string>(std::move(whole)));
    parts_.push_back({.offset = static_cast<int64_t>(offset), .bytes = BytesOf(buffer)});
  }
  BundleParts Take() && {
    bundle::Header header{.sections = static_cast<uint32_t>(sections_.size()), .file_bytes = end_};
    std::string front(sizeof header + sections_.size() * sizeof(SectionEntry), '\0');
    std::memcpy(front.data(), &header, sizeof header);
    std::memcpy(front.data() + sizeof header, sections_.data(), front.size() - sizeof header);
    header.table_hash = bundle::HashOf(BytesOf(front), pool_);
    std::memcpy(front.data(), &header, sizeof header);
    const std::string& buffer =
        *buffers_.emplace_back(std::make_unique<std::string>(std::move(front)));
    parts_.insert(parts_.begin(), {.offset = 0, .bytes = BytesOf(buffer)});
    return {.memory = std::move(buffers_), .parts = std::move(parts_), .bytes = end_};
  }
  /// Reserves space for the header and for a table of this number of sections, before the sections.
  explicit BundleWriter(size_t sections)
      : end_(sizeof(bundle::Header) + sections * sizeof(SectionEntry)) {}

 private:
  uint64_t Begin(SectionKind kind, uint32_t variant, uint64_t bytes) {
    const uint64_t offset = AlignUp(end_, AlignmentOf(kind));
    sections_.push_back({.kind = kind, .variant = variant, .offset = offset, .bytes = bytes});
    end_ = offset + bytes;
    return offset;
  }

  ThreadPool pool_{UsableProcessors()};
  uint64_t end_;
  std::vector<SectionEntry> sections_;
  std::vector<std::unique_ptr<std::string>> buffers_;
  std::vector<FilePart> parts_;
};

void AssignOffsets(const std::vector<std::shared_ptr<const void>>& constants,
                   bundle::StoredPlan& plan, WeightLayout& weights) {
  for (size_t i = 0; i < constants.size(); ++i) {
    bundle::StoredConstant& constant = plan.constants[i];
    const auto* const data = static_cast<const std::byte*>(constants[i].get());
    if (data == nullptr) continue;
    constant.offset = weights.OffsetOf({data, static_cast<size_t>(constant.bytes)});
  }
}

std::string SerializeSizes(PlansWithData& sizes, WeightLayout& weights) {
  bundle::StoredSizes stored{.form = sizes.form, .plans = {}};
  for (size_t i = 0; i < sizes.plans.size(); ++i) {
    PlanWithData& plan = sizes.plans[i];
    AssignOffsets(plan.constants, plan.plan, weights);
    stored.plans.push_back({.code = sizes.codes[i], .plan = std::move(plan.plan)});
  }
  return Serialize(stored);
}

void AddPlans(BundleVariant& variant, uint32_t number, WeightLayout& weights,
              BundleWriter& writer) {
  if (variant.sizes)
    return writer.Add(SectionKind::kSizes, number, SerializeSizes(*variant.sizes, weights));
  AssignOffsets(variant.constants, variant.plan, weights);
  writer.Add(SectionKind::kPlan, number, Serialize(variant.plan));
}

}  // namespace

BundleParts MakeBundle(std::vector<BundleVariant> variants) {
  WeightLayout weights;
  constexpr size_t kSectionsOfVariant = 4;
  const auto for_devices = static_cast<size_t>(std::ranges::count_if(
      variants, [](const BundleVariant& variant) { return !variant.head.device.empty(); }));
  BundleWriter writer(variants.size() * kSectionsOfVariant + for_devices + 1);
  for (uint32_t i = 0; i < variants.size(); ++i) {
    BundleVariant& variant = variants[i];
    writer.Add(SectionKind::kVariant, i, Serialize(variant.head));
    AddPlans(variant, i, weights, writer);
    writer.Add(SectionKind::kCode, i, bundle::CodeSection(variant.kernels, variant.image));
    writer.Add(SectionKind::kReport, i, variant.report);
    if (!variant.head.device.empty())
      writer.Add(SectionKind::kDeviceCode, i, Serialize(variant.device_code));
  }
  writer.Add(weights);
  return std::move(writer).Take();
}

Status WriteBundle(const std::filesystem::path& path, std::vector<BundleVariant> variants) {
  return WriteFileAtomically(path, MakeBundle(std::move(variants)).parts);
}

}  // namespace tunec
