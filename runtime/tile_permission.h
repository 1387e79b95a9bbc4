// Request for the permission to use AMX tile registers, which Linux grants to a process.
#pragma once

namespace tunec {

/// Requests the permission once for the whole process and returns whether tiles may be used. Later
/// calls are cheap.
bool RequestTileData();

}  // namespace tunec
