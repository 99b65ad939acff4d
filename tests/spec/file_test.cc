// SPDX-License-Identifier: Apache-2.0
#include "spec/text/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        fs::path(::testing::TempDir()) /
        Cat("kirsch_", getpid(), "_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory_);
    fs::create_directory(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  size_t FilesLeft() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

TEST_F(FileTest, WritesAndReplaces) {
  const std::string path = directory_ / "out.h";
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(WriteFile(path, "a longer text before").ok());
  ASSERT_TRUE(WriteFile(path, bytes).ok());
  EXPECT_EQ(*ReadFile(path), bytes);
  EXPECT_EQ(FilesLeft(), 1u);
}

TEST_F(FileTest, UnwritablePathIsOneLineAndLeavesNothing) {
  const std::string path = directory_ / "no" / "out.h";
  EXPECT_EQ(std::string(WriteFile(path, "x").message()), Cat("'", path, "': No such file or directory"));
  EXPECT_THAT(std::string(WriteFile(directory_.string(), "x").message()), EndsWith("Is a directory"));
  EXPECT_EQ(FilesLeft(), 0u);
}

TEST_F(FileTest, ChecksForAPlaceWithoutTouchingIt) {
  const std::string path = directory_ / "out.h", lost = directory_ / "no" / "out.h";
  EXPECT_TRUE(CheckWritable(path).ok());
  EXPECT_EQ(FilesLeft(), 0u);
  ASSERT_TRUE(WriteFile(path, "old").ok());
  EXPECT_TRUE(CheckWritable(path).ok());
  EXPECT_EQ(*ReadFile(path), "old");
  EXPECT_TRUE(CheckWritable("/dev/null").ok());
  EXPECT_EQ(std::string(CheckWritable(lost).message()), Cat("'", lost, "': No such file or directory"));
  EXPECT_THAT(std::string(CheckWritable(directory_.string()).message()), EndsWith("Is a directory"));
  EXPECT_EQ(FilesLeft(), 1u);
}

TEST_F(FileTest, FailedWriteLeavesTheOldFileAlone) {
  const std::string path = directory_ / "out.h";
  ASSERT_TRUE(WriteFile(path, "old").ok());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {16, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = WriteFile(path, std::string(1000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(std::string(status.message()), EndsWith("out.h': File too large"));
  EXPECT_EQ(*ReadFile(path), "old");
  EXPECT_EQ(FilesLeft(), 1u);
}

TEST_F(FileTest, LinksAndDevicesStayWhatTheyAre) {
  ASSERT_TRUE(WriteFile((directory_ / "file").string(), "old").ok());
  fs::create_symlink(directory_ / "file", directory_ / "link");
  ASSERT_TRUE(WriteFile((directory_ / "link").string(), "new").ok());
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(*ReadFile((directory_ / "file").string()), "new");
  // To a link to what isn't there yet, and to that.
  fs::create_symlink("none", directory_ / "first");
  fs::create_symlink(directory_ / "first", directory_ / "second");
  ASSERT_TRUE(CheckWritable((directory_ / "second").string()).ok());
  ASSERT_TRUE(WriteFile((directory_ / "second").string(), "made").ok());
  EXPECT_TRUE(fs::is_symlink(directory_ / "second") && fs::is_symlink(directory_ / "first"));
  EXPECT_EQ(*ReadFile((directory_ / "none").string()), "made");
  fs::create_symlink("circle", directory_ / "circle");
  const std::string circle = (directory_ / "circle").string();
  EXPECT_EQ(WriteFile(circle, "x").message(), "'" + circle + "': Too many levels of symbolic links");
  EXPECT_FALSE(CheckWritable(circle).ok());
  EXPECT_TRUE(fs::is_symlink(circle));
  ASSERT_TRUE(WriteFile("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, EndlessInputIsRefused) {
  EXPECT_EQ(ReadFile("/dev/zero").status().message(), "'/dev/zero': File too large");
}

}  // namespace
}  // namespace kirsch
