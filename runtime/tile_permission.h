// The right to use AMX tile registers, which Linux gives a process that asks for it.
#pragma once

namespace tunec {

/// Asks once for the whole process; whether tiles may be used. Cheap when asked again.
bool RequestTileData();

}  // namespace tunec
