// A function that draws iteration spaces with points, dependences, tiles and the execution order.
#pragma once

#include <string>

#include "polyhedral/explain/picture.h"
#include "tools/draw/draw_panel.h"

namespace tunec {

/// Returns an SVG file with a panel for each statement, rows downwards, and a legend.
std::string DrawIterations(const ScheduleTree& tree, const Picture& picture,
                           const IterationLayers& layers);

}  // namespace tunec
