// Writer of shared libraries, each of which contains a bundle and the runtime.
//
// The library is made from a template that was linked when tunec was built (api/shared/). So no
// linker is needed: the functions get the model's name, and the bundle becomes the last segment.
// The loader maps this segment like all other segments.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "compiler/bundle/write_bundle.h"
#include "support/error.h"

namespace tunec {

/// Returns the prefix of the model's functions in the library with this path: "resnet50" for
/// "out/libresnet50.so". The prefix is an identifier of C.
std::string ModelNameOf(const std::filesystem::path& library);

/// Writes the library atomically, like WriteBundle. `model` is ModelNameOf the path. Errors: those
/// of WriteBundle; kInvalidArgument for too long names; kInternal for an invalid template.
Status WriteLibrary(const std::filesystem::path& path, std::span<const std::byte> library_template,
                    std::string_view model, const BundleParts& bundle);

}  // namespace tunec
