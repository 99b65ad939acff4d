// SPDX-License-Identifier: Apache-2.0
// Tests lists as text, and how errors are passed on.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

struct Named {
  std::string name;
  int number = 0;
};

TEST(JoinTest, ListsNumbersMembersAndWhatFunctionsMake) {
  const std::vector<Named> named = {{"a", 1}, {"b", 20}};
  EXPECT_EQ(Join(std::array{1, 2, 3}, ", "), "1, 2, 3");
  EXPECT_EQ(Join(named, "|", &Named::name), "a|b");
  EXPECT_EQ(Join(named, " + ", &Named::number), "1 + 20");
  EXPECT_EQ(Join(named, "", [](const Named& one) { return Cat(one.name, one.number, ";"); }), "a1;b20;");
  EXPECT_EQ(Join(std::vector<std::string>{}, ", "), "");
}

absl::StatusOr<std::unique_ptr<int>> Boxed(int number) {
  if (number < 0) return absl::InvalidArgumentError(Cat("got ", number));
  return std::make_unique<int>(number);
}

absl::Status CheckAll(const std::vector<int>& numbers) {
  for (int number : numbers) KIRSCH_RETURN_IF_ERROR(Boxed(number).status());
  return absl::OkStatus();
}

// Two values of one function, one of them of a type with a comma, the other one moved out.
absl::StatusOr<int> Sum(int a, int b, int* calls) {
  const auto counted = [calls](int number) -> absl::StatusOr<std::pair<int, int>> {
    ++*calls;
    KIRSCH_ASSIGN_OR_RETURN(const std::unique_ptr<int> boxed, Boxed(number));
    return std::pair(*boxed, 0);
  };
  KIRSCH_ASSIGN_OR_RETURN(const auto first, counted(a));
  int second = 0;
  KIRSCH_ASSIGN_OR_RETURN(std::tie(second, std::ignore), counted(b));
  return first.first + second;
}

TEST(StatusMacrosTest, ValuesAreTakenAndErrorsPassedOn) {
  int calls = 0;
  EXPECT_EQ(*Sum(2, 3, &calls), 5);
  EXPECT_EQ(calls, 2);  // each is evaluated once
  EXPECT_EQ(Sum(-2, 3, &calls).status().message(), "got -2");
  EXPECT_EQ(calls, 3);  // nothing after an error
  EXPECT_EQ(Sum(2, -3, &calls).status().message(), "got -3");
  EXPECT_TRUE(CheckAll({1, 2}).ok());
  EXPECT_EQ(CheckAll({1, -5, -6}).message(), "got -5");
}

}  // namespace
}  // namespace kirsch
