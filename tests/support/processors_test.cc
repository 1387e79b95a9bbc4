#include "support/processors.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/usable_memory.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

int Allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// A fixture with a tree of files like /proc and /sys.
class Processors : public testing::Test {
 protected:
  Processors()
      : root_(fs::temp_directory_path() / ("tunec-processors-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  /// Writes the files of /proc for a process in the cgroup version 2 `group`. The mount shows the
  /// group `top` as its root.
  void Version2(const std::string& group, const std::string& top = "/") {
    Write("proc/self/cgroup", "1:name=systemd:/other\n0::" + group + "\n");
    Write("proc/self/mountinfo",
          "22 1 8:1 / / rw - ext4 /dev/root rw\n"
          "30 22 0:26 " +
              top + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void Version1(const std::string& group, const std::string& top = "/") {
    Write("proc/self/cgroup", "5:memory:/elsewhere\n4:cpu,cpuacct:" + group + "\n");
    Write("proc/self/mountinfo",
          "31 22 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "32 22 0:28 " +
              top + " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  int Usable() const { return UsableProcessors(root_); }
  int64_t Memory() const { return UsableMemory(root_); }

  fs::path root_;
};

TEST_F(Processors, DistinctCoresComeFirst) {
  const std::vector<int> processors = {0, 1, 2, 3};
  EXPECT_EQ(DistinctCoresFirst(processors, root_), processors) << "no file: each is a core";
  const auto siblings = [&](int cpu, const char* list) {
    Write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          std::string(list) + "\n");
  };
  siblings(0, "0-1");
  siblings(1, "0-1");
  siblings(2, "2-3");
  siblings(3, "2-3");
  EXPECT_EQ(DistinctCoresFirst(processors, root_), (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(DistinctCoresFirst(std::vector<int>{1, 3}, root_), (std::vector<int>{1, 3}));
}

TEST_F(Processors, WithoutGroupsTheAffinityCounts) {
  EXPECT_EQ(Usable(), Allowed());
  Version2("/a");
  EXPECT_EQ(Usable(), Allowed());
  Write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_EQ(Usable(), Allowed());
  Write("sys/fs/cgroup/a/cpu.max", "100000000 100000\n");
  EXPECT_EQ(Usable(), Allowed());
}

TEST_F(Processors, AShareIsRoundedUp) {
  Version2("/a/b");
  Write("sys/fs/cgroup/a/b/cpu.max", "100000 100000\n");
  EXPECT_EQ(Usable(), 1);
  Write("sys/fs/cgroup/a/b/cpu.max", "1000 100000\n");
  EXPECT_EQ(Usable(), 1);
  Write("sys/fs/cgroup/a/b/cpu.max", "100001 100000\n");
  EXPECT_EQ(Usable(), std::min(2, Allowed()));
}

TEST_F(Processors, AnEnclosingGroupLimitsToo) {
  Version2("/a/b");
  Write("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  Write("sys/fs/cgroup/a/b/cpu.max", "6400000 100000\n");
  EXPECT_EQ(Usable(), 1);
}

TEST_F(Processors, AContainerSeesItsGroupAsTheRoot) {
  Version2("/pods/p1", "/pods/p1");
  Write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(Usable(), 1);
  Version2("/..", "/");  // a group outside of the namespace
  EXPECT_EQ(Usable(), 1);
}

TEST_F(Processors, VersionOne) {
  Version1("/a");
  Write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(Usable(), Allowed());
  Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "90000\n");
  EXPECT_EQ(Usable(), 1);
  Version1("/pods/p1/a", "/pods/p1");
  EXPECT_EQ(Usable(), 1);
}

TEST_F(Processors, NonsenseIsNoLimit) {
  Version2("/a");
  for (const char* text : {"", "x y", "0 100000", "-5 100000", "100000 0", "100000"}) {
    Write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(Usable(), Allowed()) << text;
  }
  Write("proc/self/cgroup", "no colons\n:\n");
  Write("proc/self/mountinfo", "1 2\n- cgroup2\n");
  EXPECT_EQ(Usable(), Allowed());
}

TEST_F(Processors, AGroupLimitsMemory) {
  const int64_t machine = Memory();
  EXPECT_GT(machine, 1 << 20);
  Version2("/a/b");
  Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(Memory(), machine);
  Write("sys/fs/cgroup/a/memory.max", "1048576\n");
  EXPECT_EQ(Memory(), 1048576);
  Write("sys/fs/cgroup/a/b/memory.max", "2097152\n");
  EXPECT_EQ(Memory(), 1048576);
  Write("sys/fs/cgroup/a/memory.max", "9000000000000000000\n");
  EXPECT_EQ(Memory(), 2097152);
  Version1("/a");  // the memory controller has the group /elsewhere
  Write("sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Memory(), machine);
  Write("sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes", "3145728\n");
  EXPECT_EQ(Memory(), 3145728);
}

}  // namespace
}  // namespace tunec
