// `tunec schedule --svg`: the iteration spaces of a schedule as a drawing.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "schedule/apply.h"

namespace tunec {

struct PictureArguments {
  std::string svg;  // a file, `-` for standard output, empty for no drawing
  std::vector<std::string> statements;
  std::vector<std::string> axes;    // one or two iterators
  std::vector<std::string> at;      // ITERATOR=VALUE
  std::vector<std::string> layers;  // empty: all
  std::vector<int64_t> sizes;       // of the axes, or one for both; empty: 24
};

void AddPictureOptions(CLI::App& command, PictureArguments& arguments);

/// Draws what `arguments` ask for. Errors: kInvalidArgument for names that the statements lack and
/// values beyond their domains, those of TakePicture, those of writing.
Status DrawSchedule(const ScheduledTree& draft, const PictureArguments& arguments,
                    ReductionOrder order);

}  // namespace tunec
