// `tunec schedule --svg` draws the iteration spaces of a schedule.
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
  std::vector<int64_t> sizes;       // sizes of the axes, or one size for both; empty: 24
};

void AddPictureOptions(CLI::App& command, PictureArguments& arguments);

/// Draws the requested picture. Fails with kInvalidArgument for invalid statements, axes or values,
/// and with errors of TakePicture and of writing.
Status DrawSchedule(const ScheduledTree& draft, const PictureArguments& arguments,
                    ReductionOrder order);

}  // namespace tunec
