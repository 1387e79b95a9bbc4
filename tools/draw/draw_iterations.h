// A function that draws iteration spaces with points, dependences, tiles and the execution order.
#pragma once

#include <string>

#include "polyhedral/explain/picture.h"
#include "tools/draw/draw_panel.h"

namespace tunec {

/// Returns the text of an SVG file with the picture's panels side by side, and a legend.
std::string DrawIterations(const ScheduleTree& tree, const Picture& picture,
                           const IterationLayers& layers);

}  // namespace tunec
