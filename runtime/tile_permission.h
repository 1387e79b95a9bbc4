// Permission to use AMX tile registers, which Linux grants on request.
#pragma once

namespace tunec {

/// Requests the permission once for the whole process and returns whether tiles may be used. Later
/// calls are cheap.
bool RequestTileData();

}  // namespace tunec
