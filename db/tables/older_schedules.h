// The conversion of schedules from version 1 of their language to version 2. Version 1 is in files
// before schema 6 and in exports up to version 3.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// Returns the schedule with explicit `storage_order` steps. In version 1 an implicit rule chose
/// the storage order of an argument's copy; in version 2 a `storage_order` step states it. The new
/// steps come before the other loop steps. Copies that `pack` makes get one, and so do copies of
/// constants that `widen` makes. `workload`, the text of a Compute, lists the arguments. Steps that
/// no sketch wrote at that time (`precision`) are unchanged.
std::string WithStorageOrders(std::string_view schedule, std::string_view workload);

}  // namespace tunec
