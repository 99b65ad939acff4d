// SPDX-License-Identifier: Apache-2.0
// A directory of the running test's own, empty at first and gone in the end.
#ifndef KIRSCH_TESTS_TESTING_TEMP_DIRECTORY_H_
#define KIRSCH_TESTS_TESTING_TEMP_DIRECTORY_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "spec/text/cat.h"

namespace kirsch::testing {

class TempDirectory {
 public:
  TempDirectory() : path_(std::filesystem::path(::testing::TempDir()) / Name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~TempDirectory() { std::filesystem::remove_all(path_); }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  std::string path() const { return path_.string(); }
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  static std::string Name() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    return Cat("kirsch_", getpid(), "_", name);
  }

  const std::filesystem::path path_;
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_TEMP_DIRECTORY_H_
