#include "tests/db/faulty_disk.h"

#include <sqlite3.h>

#include <new>

#include "support/check.h"

namespace tunec {
namespace {

struct DiskFault {
  bool armed = false;
  int writes_left = 0;
  int result_code = SQLITE_OK;
  int rejected = 0;
};
DiskFault plan;
sqlite3_vfs* below = nullptr;

/// A file object for SQLite. The file object of the layer below follows it in the same memory.
struct File {
  sqlite3_file base;
  sqlite3_file* Real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->Real(); }

/// Forwards a call to the file object of the layer below.
template <auto member, class... Args>
int Forward(sqlite3_file* file, Args... args) {
  return (Real(file)->pMethods->*member)(Real(file), args...);
}

int Write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (plan.armed && plan.writes_left-- <= 0) {
    ++plan.rejected;
    return plan.result_code;
  }
  return Real(file)->pMethods->xWrite(Real(file), data, size, offset);
}

void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,  // no memory mapping, which would bypass this layer
    .xClose = Forward<&sqlite3_io_methods::xClose>,
    .xRead = Forward<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = Write,
    .xTruncate = Forward<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
    .xSync = Forward<&sqlite3_io_methods::xSync, int>,
    .xFileSize = Forward<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = Forward<&sqlite3_io_methods::xLock, int>,
    .xUnlock = Forward<&sqlite3_io_methods::xUnlock, int>,
    .xCheckReservedLock = Forward<&sqlite3_io_methods::xCheckReservedLock, int*>,
    .xFileControl = Forward<&sqlite3_io_methods::xFileControl, int, void*>,
    .xSectorSize = Forward<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = Forward<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = Forward<&sqlite3_io_methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = Forward<&sqlite3_io_methods::xShmLock, int, int, int>,
    .xShmBarrier = ShmBarrier,
    .xShmUnmap = Forward<&sqlite3_io_methods::xShmUnmap, int>,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int result = below->xOpen(below, name, Real(file), flags, out_flags);
  file->pMethods = Real(file)->pMethods == nullptr ? nullptr : &kMethods;
  return result;
}

}  // namespace

struct FaultyDisk::Layer {
  sqlite3_vfs vfs;
};

FaultyDisk::FaultyDisk() : layer_(std::make_unique<Layer>()) {
  below = sqlite3_vfs_find(nullptr);
  TUNEC_CHECK(below != nullptr, "SQLite has no file layer");
  layer_->vfs = *below;
  layer_->vfs.pNext = nullptr;
  layer_->vfs.zName = "faulty";
  layer_->vfs.szOsFile = below->szOsFile + static_cast<int>(sizeof(File));
  layer_->vfs.xOpen = Open;
  plan = {};
  sqlite3_vfs_register(&layer_->vfs, 1);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&layer_->vfs);
  sqlite3_vfs_register(below, 1);
}

void FaultyDisk::FailAfter(int writes, int result_code) { plan = {true, writes, result_code, 0}; }

void FaultyDisk::Heal() { plan.armed = false; }

int FaultyDisk::rejected() const { return plan.rejected; }

}  // namespace tunec
