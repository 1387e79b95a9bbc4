// Tests of the keys that seal compiled objects. A database returns to each user only this user's
// objects.
#include "db/seal/object_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "db/cache_folder.h"
#include "db/seal/key_file.h"
#include "db/seal/keyed_hash.h"
#include "db/tables/schema.h"
#include "support/hash.h"
#include "tests/db/samples.h"

namespace tunec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HashKey KeyOf(std::string_view text) {
  HashKey key{};
  std::copy(text.begin(), text.end(), key.begin());
  return key;
}

std::filesystem::perms ModeOf(const std::string& path) {
  return std::filesystem::status(path).permissions();
}
std::filesystem::perms Mode(int mode) { return static_cast<std::filesystem::perms>(mode); }

/// A file mode mask of the process. The destructor restores the mask that was set before.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(umask(mask)) {}
  ~Umask() { umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

// The expected hashes are from BLAKE3's own test vectors, in which input byte i is i mod 251.
TEST(KeyedHash, IsThatOfBlake3) {
  const HashKey key = KeyOf("whats the Elvish word for friend");
  const auto hash_of = [&](size_t length) {
    std::string input(length, '\0');
    for (size_t i = 0; i < length; ++i) input[i] = static_cast<char>(i % 251);
    return KeyedHash(key, input);
  };
  EXPECT_EQ(hash_of(0), "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26");
  EXPECT_EQ(hash_of(1), "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b");
  EXPECT_EQ(hash_of(1025), "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69");
  EXPECT_EQ(hash_of(102400), "1c35d1a5811083fd7119f5d5d1ba027b4d01c0c6c49fb6ff2cf75393ea5db4a7");
}

TEST(ObjectKeys, ComeBackFromTheirText) {
  const ObjectKey key = *ObjectKey::Random();
  const std::optional<ObjectKey> again = ObjectKey::Parse(key.Text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->owner(), key.owner());
  EXPECT_EQ(again->Seal("k", {"o", "{}"}), key.Seal("k", {"o", "{}"}));
  EXPECT_NE(ObjectKey::Random()->owner(), key.owner());
  EXPECT_THAT(key.Text(), testing::Not(HasSubstr(key.owner())));
}

TEST(ObjectKeys, AreNoOtherText) {
  const std::string text = ObjectKey::Random()->Text();
  std::string other_digit = text;
  other_digit[20] = 'g';
  std::string sign = text;
  sign[20] = '-';
  for (const std::string& bad :
       {std::string(), std::string(32, 'x'), text.substr(0, text.size() - 1), text + "\n",
        text.substr(1), text.substr(0, 30) + "\n", other_digit, sign, "x" + text}) {
    EXPECT_FALSE(ObjectKey::Parse(bad)) << bad;
  }
}

TEST(ObjectKeys, SealsCoverEachTextByItself) {
  const ObjectKey key(KeyOf("a key"));
  std::set<std::string> seals = {
      key.Seal("ab", {"c", "d"}), key.Seal("a", {"bc", "d"}),
      key.Seal("a", {"b", "cd"}), key.Seal("", {"abc", "d"}),
      key.Seal("abc", {"", "d"}), key.Seal("abcd", {"", ""}),
      key.Seal("c", {"ab", "d"}), ObjectKey(KeyOf("another")).Seal("ab", {"c", "d"})};
  EXPECT_EQ(seals.size(), 8u);
  EXPECT_THAT(seals, testing::Each(testing::SizeIs(64)));
}

TEST(KeyFile, IsMadeOnceForItsOwnerAlone) {
  for (const mode_t mask : {0000, 0022, 0077}) {
    TempFolder folder;
    const Umask set(mask);
    const std::string path = folder.File("cache/tunec/object_key");
    EXPECT_FALSE(FindObjectKey(path)->has_value());
    EXPECT_FALSE(std::filesystem::exists(folder.File("cache")));
    const auto made = FindOrMakeObjectKey(path);
    ASSERT_TRUE(made) << made.error().Format();
    EXPECT_EQ(ModeOf(path), Mode(0600));
    EXPECT_EQ(ModeOf(folder.File("cache/tunec")), Mode(0700));
    EXPECT_EQ(ModeOf(folder.File("cache")), Mode(0700));
    EXPECT_EQ((*FindObjectKey(path))->owner(), made->owner());
    EXPECT_EQ(FindOrMakeObjectKey(path)->owner(), made->owner());
    const std::filesystem::directory_iterator files(folder.File("cache/tunec"));
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  }
}

TEST(KeyFile, ProcessesThatMakeItAtOnceAgree) {
  for (int round = 0; round < 30; ++round) {
    TempFolder folder;
    std::vector<pid_t> children;
    for (int process = 0; process < 4; ++process) {
      children.push_back(StartChild([&, process] {
        const auto key = FindOrMakeObjectKey(folder.File("sub/object_key"));
        if (!key) return 1;
        WriteBytes(folder.File(std::to_string(process)), key->owner());
        return 0;
      }));
    }
    std::set<std::string> owners;
    for (size_t process = 0; process < children.size(); ++process) {
      EXPECT_EQ(WaitFor(children[process]), 0);
      owners.insert(ReadBytes(folder.File(std::to_string(process))));
    }
    EXPECT_EQ(owners.size(), 1u);
  }
}

/// An invalid key file, or a folder or link instead. `make` creates it. The error message contains
/// `why`.
struct BadKey {
  const char* name;
  std::string why;
  std::function<void(const std::string&)> make;
};

class RejectedKey : public ::testing::TestWithParam<BadKey> {};

std::function<void(const std::string&)> WithMode(int mode) {
  return [mode](const std::string& path) {
    WriteBytes(path, ObjectKey::Random()->Text());
    std::filesystem::permissions(path, Mode(mode));
  };
}

std::function<void(const std::string&)> WithBytes(size_t count) {
  return [count](const std::string& path) {
    std::string text = ObjectKey::Random()->Text();
    text.resize(count, 'x');
    WriteBytes(path, text);
    std::filesystem::permissions(path, Mode(0600));
  };
}

void LinkToAKey(const std::string& path) {
  WithMode(0600)(path + ".real");
  std::filesystem::create_symlink(path + ".real", path);
}

INSTANTIATE_TEST_SUITE_P(
    KeyFile, RejectedKey,
    ::testing::Values(BadKey{"ReadableByAll", "has mode 0644, expected 0600", WithMode(0644)},
                      BadKey{"ReadableByTheGroup", "has mode 0640, expected 0600", WithMode(0640)},
                      BadKey{"WritableByAll", "has mode 0602, expected 0600", WithMode(0602)},
                      BadKey{"Empty", "holds 0 bytes that are not a key", WithBytes(0)},
                      BadKey{"CutShort", "holds 40 bytes that are not a key", WithBytes(40)},
                      BadKey{"TooLong", "holds 200 bytes that are not a key", WithBytes(200)},
                      BadKey{
                          "AFolder", "is not a regular file",
                          [](const std::string& path) { std::filesystem::create_directory(path); }},
                      BadKey{"AFifo", "is not a regular file",
                             [](const std::string& path) { (void)mkfifo(path.c_str(), 0600); }},
                      BadKey{"ALink", "is a link", LinkToAKey}),
    [](const auto& info) { return info.param.name; });

TEST_P(RejectedKey, KeepsObjectsOutAndSaysWhyOnce) {
  TempFolder folder;
  const std::string key_file = folder.File("object_key");
  GetParam().make(key_file);
  Database database = *Database::Open(folder.File("t.db"), OpenMode::kReadWrite, key_file);
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
    EXPECT_EQ(database.GetArtifact("key").value(), std::nullopt);
    ASSERT_TRUE(database.DropArtifact("key").has_value());
  }
  EXPECT_EQ(database.Stats()->artifacts, 0);
  EXPECT_THAT(database.TakeMissReasons(),
              ElementsAre(AllOf(HasSubstr(key_file + ": " + GetParam().why),
                                HasSubstr("; compiled objects are neither kept nor loaded"))));
  ASSERT_TRUE(database.RecordTrial(SampleKey(), OkTrial(1, 1)).has_value());
  EXPECT_THAT(*database.IntegrityCheck(), IsEmpty());
}

TEST(KeyFile, OfAnotherUserIsRejected) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  TempFolder folder;
  const std::string path = folder.File("object_key");
  WithMode(0600)(path);
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_THAT(FindObjectKey(path).error().message, HasSubstr("belongs to another user"));
}

TEST(Objects, NeedAPlaceForTheirKey) {
  TempFolder folder;
  for (const std::string& key_file : {std::string(), std::string("/proc/nowhere/object_key")}) {
    Database database = *Database::Open(folder.File("t.db"), OpenMode::kReadWrite, key_file);
    ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
    EXPECT_EQ(database.GetArtifact("key").value(), std::nullopt);
    EXPECT_THAT(database.TakeMissReasons(),
                ElementsAre(AllOf(HasSubstr(key_file.empty() ? "set HOME or XDG_CACHE_HOME"
                                                             : "/proc/nowhere: cannot create"),
                                  HasSubstr("neither kept nor loaded"))));
  }
}

TEST(Objects, InMemoryNeedNoKey) {
  Database database = *Database::Open(kInMemory, OpenMode::kReadWrite, "/proc/nowhere/object_key");
  ASSERT_TRUE(database.PutArtifact("key", {"object", "{}", 5}).has_value());
  EXPECT_TRUE(database.GetArtifact("key")->has_value());
  EXPECT_THAT(database.TakeMissReasons(), IsEmpty());
}

/// A fixture with a database that two users share. Each user has a separate key file.
class TwoUsers : public ::testing::Test {
 protected:
  Database Open(const std::string& user) {
    auto database = Database::Open(path_, OpenMode::kReadWrite, folder_.File(user));
    TUNEC_CHECK(database.has_value(), "{}", database.error().Format());
    return *std::move(database);
  }
  std::string ObjectOf(Database& database) {
    const std::optional<Artifact> found = database.GetArtifact("key").value();
    return found ? found->object : "none";
  }

  TempFolder folder_;
  std::string path_ = folder_.File("t.db");
};

TEST_F(TwoUsers, EachHaveTheirOwnObjects) {
  Database ann = Open("ann"), bob = Open("bob");
  ASSERT_TRUE(ann.PutArtifact("key", {"of ann", "{}", 5}).has_value());
  EXPECT_EQ(ObjectOf(ann), "of ann");
  EXPECT_EQ(ObjectOf(bob), "none");
  ASSERT_TRUE(bob.PutArtifact("key", {"of bob", "{}", 6}).has_value());
  EXPECT_EQ(ObjectOf(ann), "of ann");
  EXPECT_EQ(ObjectOf(bob), "of bob");
  EXPECT_EQ(ann.Stats()->artifacts, 2);
  ASSERT_TRUE(bob.DropArtifact("key").has_value());
  EXPECT_EQ(ObjectOf(ann), "of ann");
  ASSERT_TRUE(bob.RecordTrial(SampleKey(), OkTrial(1, 1)).has_value());
  EXPECT_EQ(ann.CountTrials(SampleKey()), 1);
  EXPECT_THAT(ann.TakeMissReasons(), IsEmpty());
  EXPECT_THAT(bob.TakeMissReasons(), IsEmpty());
}

TEST_F(TwoUsers, CannotPassTheirObjectsForTheOthers) {
  Database ann = Open("ann"), bob = Open("bob");
  ASSERT_TRUE(ann.PutArtifact("key", {"of ann", "{}", 5}).has_value());
  ASSERT_TRUE(bob.PutArtifact("key", {"of bob", "{}", 6}).has_value());
  Tamper(path_,
         "DELETE FROM artifacts WHERE object = CAST('of ann' AS BLOB);"
         "UPDATE artifacts SET owner = '" +
             (*FindObjectKey(folder_.File("ann")))->owner() + "'");
  EXPECT_EQ(ObjectOf(ann), "none");
  EXPECT_THAT(ann.TakeMissReasons(), ElementsAre(HasSubstr("do not match their hash")));
  EXPECT_THAT(*ann.IntegrityCheck(), ElementsAre(HasSubstr("do not match their hash")));
}

TEST_F(TwoUsers, PruneEachOthersObjectsByDate) {
  Database ann = Open("ann"), bob = Open("bob");
  ASSERT_TRUE(ann.PutArtifact("key", {"of ann", "{}", 5}).has_value());
  ASSERT_TRUE(bob.PutArtifact("key", {"of bob", "{}", 50}).has_value());
  EXPECT_EQ(bob.Prune({.created_before = 20})->artifacts, 1);
  EXPECT_EQ(ObjectOf(ann), "none");
  EXPECT_EQ(ObjectOf(bob), "of bob");
}

// Objects in a file of schema 8 have no owner. Opening for reading drops no object from the file.
TEST(Objects, OfSchema8AreDroppedAndCounted) {
  TempFolder folder;
  const std::string path = folder.File("t.db");
  {
    SQLite::Database raw(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    ASSERT_TRUE(Migrate(raw, path, Migrations().first(8)).has_value());
    for (const char* key : {"a", "b", "c"}) {
      raw.exec(fmt::format(
          "INSERT INTO artifacts(key_hash, key_text, object, hash, metadata, created_at) "
          "VALUES ('{}', '{}', x'00', 'h', '{{}}', 1)",
          StableHash(key), key));
    }
  }
  EXPECT_THAT(OpenForTest(path, OpenMode::kReadOnly).TakeMissReasons(), IsEmpty());
  Database database = OpenForTest(path);
  EXPECT_THAT(database.TakeMissReasons(), ElementsAre(HasSubstr("(3)")));
  EXPECT_EQ(database.GetArtifact("a").value(), std::nullopt);
  EXPECT_EQ(database.Stats()->artifacts, 0);
  ASSERT_TRUE(database.PutArtifact("a", {"o", "{}", 5}).has_value());
  EXPECT_TRUE(OpenForTest(path).GetArtifact("a")->has_value());
  EXPECT_THAT(OpenForTest(path).TakeMissReasons(), IsEmpty());
}

TEST(CacheFolder, IsTheUsersAlone) {
  TempFolder folder;
  const char* const before = getenv("XDG_CACHE_HOME");
  const std::string saved = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", folder.File("a/cache").c_str(), 1);
  {
    const Umask all(0);
    const std::string path = *DefaultDatabasePath();
    ASSERT_TRUE(Database::Open(path, OpenMode::kReadWrite).has_value());
    EXPECT_EQ(ModeOf(folder.File("a")), Mode(0700));
    EXPECT_EQ(ModeOf(folder.File("a/cache")), Mode(0700));
    EXPECT_EQ(ModeOf(folder.File("a/cache/tunec")), Mode(0700));
    // A folder that the user names may be shared by several users.
    ASSERT_TRUE(Database::Open(folder.File("shared/t.db"), OpenMode::kReadWrite).has_value());
    EXPECT_EQ(ModeOf(folder.File("shared")), Mode(0777));
  }
  before != nullptr ? setenv("XDG_CACHE_HOME", saved.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace tunec
