#include "jit/cuda/emulate/checked_launch.h"

#include <map>
#include <mutex>
#include <tuple>

#include "jit/cuda/emulate/regions.h"
#include "support/check.h"

namespace tunec {
namespace {

// The numbers of the last writing block and of the last reading block of a byte; -1: none.
struct BlockMarks {
  int64_t writer = -1;
  int64_t reader = -1;
};

class OpenLaunch {
 public:
  void Add(const char* symbol, int64_t block, const ByteMarks<ThreadMarks>& touched) {
    touched.ForEach([&](const std::byte* byte, const ThreadMarks& threads) {
      const bool writes = threads.write.thread >= 0;
      const bool reads = threads.read.thread >= 0;
      if (!writes && !reads) return;
      BlockMarks& marks = marks_.At(byte);
      const bool race = marks.writer >= 0 || (writes && marks.reader >= 0);
      TUNEC_CHECK(!race, "{}: a race at {}: block {} {} it, block {} {} it, in any order", symbol,
                  DescribeAddress(byte), block, writes ? "writes" : "reads",
                  marks.writer >= 0 ? marks.writer : marks.reader,
                  marks.writer >= 0 ? "writes" : "reads");
      if (writes) marks.writer = block;
      if (reads) marks.reader = block;
    });
    ++blocks_;
  }
  int64_t blocks() const { return blocks_; }

 private:
  ByteMarks<BlockMarks> marks_;
  int64_t blocks_ = 0;  // number of blocks that have ended
};

using Key = std::tuple<const EmulatedLaunch*, int64_t, void* const*, const void*>;

struct Launches {
  std::mutex mutex;
  std::map<Key, OpenLaunch> open;
};

}  // namespace

void CheckOtherBlocks(const EmulatedLaunch& launch, void* const* arguments, const void* workspace,
                      int64_t block, const ByteMarks<ThreadMarks>& touched) {
  static Launches launches;
  const Key key{&launch, block / launch.blocks, arguments, workspace};
  const std::lock_guard lock(launches.mutex);
  OpenLaunch& open = launches.open[key];
  open.Add(launch.symbol, block, touched);
  if (open.blocks() == launch.blocks) launches.open.erase(key);
}

}  // namespace tunec
