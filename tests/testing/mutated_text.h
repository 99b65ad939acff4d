// SPDX-License-Identifier: Apache-2.0
// Files of kernels with a few characters erased, replaced or put in.
#ifndef KIRSCH_TESTS_TESTING_MUTATED_TEXT_H_
#define KIRSCH_TESTS_TESTING_MUTATED_TEXT_H_

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "spec/language/kernel_file.h"

namespace kirsch::testing {

// A text with so many changes; never an empty one.
inline std::string Mutated(const std::string& seed, size_t changes, std::mt19937& random) {
  const std::string signs = "()[],:=->\n .e0x|19\x80";
  std::string text = seed;
  for (size_t i = 0; i < changes; ++i) {
    const size_t at = random() % text.size();
    if (random() % 3 == 0)
      text.erase(at, 1 + random() % 4);
    else if (random() % 2 == 0)
      text[at] = signs[random() % signs.size()];
    else
      text.insert(at, 1, signs[random() % signs.size()]);
    if (text.empty()) text = seed;
  }
  return text;
}

// Reads so many of them, made from one seed after the other; each is read, or refused on one line that begins
// with its place. How many were read.
inline int ReadMutated(const std::vector<std::string>& seeds, int rounds) {
  std::mt19937 random(5);
  int read = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string& seed = seeds[static_cast<size_t>(round) % seeds.size()];
    const std::string text = Mutated(seed, 1 + static_cast<size_t>(round) / seeds.size() % 4, random);
    const auto requests = ParseKernelFile(text, "f");
    read += requests.ok() ? 1 : 0;
    if (requests.ok()) continue;
    const std::string message(requests.status().message());
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.rfind("f:", 0), 0u) << message;
  }
  return read;
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_MUTATED_TEXT_H_
