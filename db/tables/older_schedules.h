// What schedules of version 1 of their language say in version 2: in files before schema 6 and in
// exports up to version 3.
#pragma once

#include <string>
#include <string_view>

namespace tunec {

/// In version 1 a copy of an argument into another storage order was made by a rule that stood
/// nowhere; in version 2 a `storage_order` says it. Returns the schedule with these steps before
/// the others that shape loops: for what `pack` copies, and for what `widen` makes of a constant.
/// `workload`, the text of a Compute, says what is an argument. Steps that no sketch wrote then
/// (`precision`) are taken as they stand.
std::string WithStorageOrders(std::string_view schedule, std::string_view workload);

}  // namespace tunec
