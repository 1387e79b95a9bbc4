// Tests reading of external data, and the rejection of files outside of the model's folder.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "graph/reference.h"
#include "tests/graph/onnx/onnx_model.h"

namespace tunec::onnx_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class OnnxExternal : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / fmt::format("tunec_onnx_{}", getpid());
    fs::remove_all(root_);
    fs::create_directories(root_ / "model" / "data");
    for (const char* name : {"model/w.bin", "model/data/w.bin", "secret.bin"})
      Write(name, {1, 2, 3, 4});
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const fs::path& name, const std::vector<float>& values) const {
    std::ofstream(root_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), std::ssize(values) * 4);
  }
  static std::string ModelWith(const std::map<std::string, std::string>& entries) {
    Model model(17);
    auto& tensor = *model.graph().add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    model.Input("x", {2}).Node("Add", {"x", "w"}, {"y"}).Output("y");
    return model.Bytes();
  }
  Result<Graph> Import(const std::map<std::string, std::string>& entries) {
    const std::string path = root_ / "model" / "m.onnx";
    std::ofstream(path, std::ios::binary) << ModelWith(entries);
    return ImportOnnx(path, {});
  }
  std::string Message(const std::map<std::string, std::string>& entries) {
    const auto graph = Import(entries);
    return graph ? "" : graph.error().Format();
  }

  fs::path root_;
};

TEST_F(OnnxExternal, IsReadAtItsOffset) {
  for (const char* offset : {"0", "8", "1"}) {
    const auto graph = Import({{"location", "./data/w.bin"}, {"offset", offset}, {"length", "8"}});
    ASSERT_TRUE(graph) << graph.error().Format();
    const auto outputs = RunReference(*graph, std::vector<Array>{Floats({2}, {10, 10})});
    ASSERT_TRUE(outputs);
    if (std::string(offset) == "8") {
      EXPECT_THAT(Values(outputs->front()), ElementsAre(13, 14));
    }
  }
}

TEST_F(OnnxExternal, StaysInTheFolder) {
  EXPECT_THAT(Message({{"location", "../secret.bin"}}), HasSubstr("contains '..'"));
  EXPECT_THAT(Message({{"location", "data/../../secret.bin"}}), HasSubstr("contains '..'"));
  EXPECT_THAT(Message({{"location", (root_ / "secret.bin").string()}}), HasSubstr("is absolute"));
  EXPECT_THAT(Message({}), HasSubstr("is empty"));
  EXPECT_THAT(Message({{"location", std::string("w.bin\0x", 7)}}), HasSubstr("zero byte"));
  fs::create_symlink(root_ / "secret.bin", root_ / "model" / "link.bin");
  EXPECT_THAT(Message({{"location", "link.bin"}}), HasSubstr("is a link"));
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  EXPECT_THAT(Message({{"location", "up/secret.bin"}}), HasSubstr("is a link"));
  fs::create_hard_link(root_ / "secret.bin", root_ / "model" / "hard.bin");
  EXPECT_THAT(Message({{"location", "hard.bin"}}), HasSubstr("2 hard links"));
  mkfifo((root_ / "model" / "pipe").c_str(), 0600);
  EXPECT_THAT(Message({{"location", "pipe"}}), HasSubstr("not a regular file"));
  EXPECT_THAT(Message({{"location", "data"}}), HasSubstr("not a regular file"));
  EXPECT_THAT(Message({{"location", "missing.bin"}}), HasSubstr("No such file"));
}

TEST_F(OnnxExternal, SizesAreChecked) {
  EXPECT_THAT(Message({{"location", "w.bin"}, {"offset", "9"}}), HasSubstr("is outside"));
  EXPECT_THAT(Message({{"location", "w.bin"}, {"offset", "18446744073709551615"}}),
              HasSubstr("is outside"));
  EXPECT_THAT(Message({{"location", "w.bin"}, {"offset", "-1"}}), HasSubstr("non-negative number"));
  EXPECT_THAT(Message({{"location", "w.bin"}, {"length", "9"}}),
              HasSubstr("expected 8 for 2 elements"));
}

TEST_F(OnnxExternal, FilesThatAreNoModels) {
  EXPECT_THAT(ImportOnnx(root_ / "missing.onnx", {}).error().Format(), HasSubstr("No such file"));
  EXPECT_THAT(ImportOnnx(root_, {}).error().Format(), HasSubstr("not a regular file"));
  mkfifo((root_ / "pipe.onnx").c_str(), 0600);
  EXPECT_THAT(ImportOnnx(root_ / "pipe.onnx", {}).error().Format(),
              HasSubstr("not a regular file"));
}

/// A fixture with a model in a folder with the layout of Hugging Face's hub. Names in a snapshot
/// are links to blobs, which are files named by their hashes.
class OnnxBlobs : public OnnxExternal {
 protected:
  void SetUp() override {
    OnnxExternal::SetUp();
    fs::create_directories(root_ / "hub" / "blobs");
    fs::create_directories(Snapshot() / "onnx");
    std::ofstream(root_ / "hub/blobs/5f70bf18", std::ios::binary)
        << ModelWith({{"location", "model.onnx_data"}});
    Write("hub/blobs/a1b2c3d4", {1, 2});
    Write("hub/secret.bin", {7, 7});
    fs::create_symlink("../../blobs/5f70bf18", Snapshot() / "model.onnx");
    fs::create_symlink("../../../blobs/5f70bf18", Snapshot() / "onnx/model.onnx");
  }
  fs::path Snapshot() const { return root_ / "hub/snapshots/0123abcd"; }
  /// Makes model.onnx_data in the snapshot a link to `target`. Returns SumsOf model.onnx.
  std::string WithDataAt(const fs::path& target) const {
    fs::remove(Snapshot() / "model.onnx_data");
    fs::create_symlink(target, Snapshot() / "model.onnx_data");
    return SumsOf(ImportOnnx(Snapshot() / "model.onnx", {}));
  }
  /// Runs the model on the input [10, 20]. Returns the first output as text, or the error message.
  static std::string SumsOf(const Result<Graph>& graph) {
    if (!graph) return graph.error().Format();
    const auto outputs = RunReference(*graph, std::vector<Array>{Floats({2}, {10, 20})});
    if (!outputs) return outputs.error().Format();
    return fmt::format("{}", fmt::join(Values(outputs->front()), " "));
  }
};

TEST_F(OnnxBlobs, AreFoundByTheNamesInASnapshot) {
  EXPECT_EQ(WithDataAt("../../blobs/a1b2c3d4"), "11 22");
  EXPECT_EQ(WithDataAt(root_ / "hub/blobs/a1b2c3d4"), "11 22");
  fs::create_symlink("../../../blobs/a1b2c3d4", Snapshot() / "onnx/model.onnx_data");
  EXPECT_EQ(SumsOf(ImportOnnx(Snapshot() / "onnx/model.onnx", {})), "11 22");
  // The user may also name the snapshot by a link, or use the snapshot as working directory.
  fs::create_directory_symlink(Snapshot(), root_ / "main");
  EXPECT_EQ(SumsOf(ImportOnnx(root_ / "main/model.onnx", {})), "11 22");
  fs::current_path(Snapshot());
  EXPECT_EQ(SumsOf(ImportOnnx("model.onnx", {})), "11 22");
  EXPECT_EQ(SumsOf(ImportOnnx("./onnx/model.onnx", {})), "11 22");
}

TEST_F(OnnxBlobs, OnlyLinksBelowTheFoldersAreFollowed) {
  const auto outside = HasSubstr("which is outside of the model's folder");
  EXPECT_THAT(WithDataAt("../../../hub/secret.bin"), outside);
  EXPECT_THAT(WithDataAt(root_ / "secret.bin"), outside);
  EXPECT_THAT(WithDataAt("/etc/passwd"), outside);
  EXPECT_THAT(WithDataAt("/proc/self/exe"), outside);
  // The next three targets are a link among the blobs, a path through such a link, and a file in a
  // similarly named folder.
  fs::create_symlink("../secret.bin", root_ / "hub/blobs/evil");
  EXPECT_THAT(WithDataAt("../../blobs/evil"), outside);
  fs::create_directory_symlink("..", root_ / "hub/blobs/up");
  EXPECT_THAT(WithDataAt("../../blobs/up/secret.bin"), outside);
  fs::create_directories(root_ / "hub/blobs2");
  Write("hub/blobs2/a1b2c3d4", {7, 7});
  EXPECT_THAT(WithDataAt("../../blobs2/a1b2c3d4"), outside);
  fs::create_hard_link(root_ / "hub/secret.bin", root_ / "hub/blobs/hard");
  EXPECT_THAT(WithDataAt("../../blobs/hard"), HasSubstr("2 hard links"));
  mkfifo((root_ / "hub/blobs/pipe").c_str(), 0600);
  EXPECT_THAT(WithDataAt("../../blobs/pipe"), HasSubstr("not a regular file"));
  EXPECT_THAT(WithDataAt("../../blobs"), HasSubstr("outside of the model's folder"));
  EXPECT_THAT(WithDataAt("../../blobs/missing"), HasSubstr("No such file"));
  EXPECT_THAT(WithDataAt("model.onnx_data"), HasSubstr("Too many levels"));
  EXPECT_EQ(WithDataAt("../../blobs/up/blobs/a1b2c3d4"), "11 22");
  // The copy is not a link, so the blobs are outside of the copy's folder.
  fs::copy_file(root_ / "hub/blobs/5f70bf18", Snapshot() / "copy.onnx");
  WithDataAt("../../blobs/a1b2c3d4");
  EXPECT_THAT(SumsOf(ImportOnnx(Snapshot() / "copy.onnx", {})), outside);
}

TEST_F(OnnxBlobs, LinksWithinTheFolderAreFollowed) {
  Write("hub/snapshots/0123abcd/onnx/other", {3, 4});
  EXPECT_EQ(WithDataAt("onnx/other"), "13 24");
  EXPECT_EQ(WithDataAt("../0123abcd/onnx/other"), "13 24");
}

// If the link changes during reading, the reader gets the data inside the folder, or an error.
TEST_F(OnnxBlobs, ALinkThatChangesLeadsNowhereElse) {
  std::atomic<bool> done = false;
  std::jthread swaps([&] {
    for (int i = 0; !done; ++i) {
      const fs::path next = root_ / "next";
      fs::create_symlink(i % 2 == 0 ? "../../blobs/a1b2c3d4" : "../../secret.bin", next);
      fs::rename(next, Snapshot() / "model.onnx_data");
    }
  });
  int read = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string found = SumsOf(ImportOnnx(Snapshot() / "model.onnx", {}));
    if (found == "11 22") ++read;
    EXPECT_THAT(found, ::testing::AnyOf("11 22", HasSubstr("outside of the model's folder"),
                                        HasSubstr("No such file")));
  }
  done = true;
  EXPECT_GT(read, 0);
}

// For bytes, only the folder that the user names is allowed.
TEST_F(OnnxBlobs, BytesHaveTheFolderThatIsNamed) {
  const std::string bytes = ModelWith({{"location", "data/w.bin"}});
  const auto import = [&](const std::optional<std::string>& folder) {
    return SumsOf(ImportOnnxBytes(std::as_bytes(std::span(bytes)), "<memory>", {}, folder));
  };
  EXPECT_THAT(import(std::nullopt), HasSubstr("of a model that is not a file"));
  EXPECT_EQ(import(root_ / "model"), "11 22");
  fs::remove(root_ / "model/data/w.bin");
  fs::create_symlink("../../hub/blobs/a1b2c3d4", root_ / "model/data/w.bin");
  EXPECT_THAT(import(root_ / "model"), HasSubstr("outside of the model's folder"));
  fs::rename(root_ / "hub/blobs/a1b2c3d4", root_ / "model/blob");
  fs::remove(root_ / "model/data/w.bin");
  fs::create_symlink("../blob", root_ / "model/data/w.bin");
  EXPECT_EQ(import(root_ / "model"), "11 22");
  fs::current_path(root_ / "model");
  EXPECT_EQ(import("."), "11 22");
  EXPECT_THAT(import(root_ / "nowhere"), HasSubstr("No such file"));
}

}  // namespace
}  // namespace tunec::onnx_test
