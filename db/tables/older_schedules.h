// The conversion of schedules from version 1 of their language to version 2. Version 1 is in files
// before schema 6 and in exports up to version 3.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns the schedule with explicit `storage_order` steps. In version 1, an implicit rule ordered
/// the loops that copy an argument; in version 2, a `storage_order` step does. The new steps come
/// before the other loop steps. Each copy of an argument by `pack` and each copy of a constant by
/// `widen` gets one. `workload`, the text of a Compute, lists the arguments. Copies by `precision`
/// get none, since no sketch wrote this step at that time.
std::string WithStorageOrders(std::string_view schedule, std::string_view workload);

}  // namespace tunec
