// SPDX-License-Identifier: Apache-2.0
// Hostile text: whatever is fed to the readers, they return a value or one line of explanation.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "spec/language/family.h"
#include "spec/language/kernel_file.h"
#include "spec/language/parser.h"
#include "spec/language/schedule.h"
#include "spec/target/target_files.h"
#include "spec/target/target_json.h"

namespace kirsch {
namespace {

// Changes a text a little: bytes replaced, inserted, removed, repeated, or swapped with a piece of `other`.
class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  std::string Mutate(std::string text, const std::string& other) {
    const size_t count = 1 + Below(4);
    for (size_t i = 0; i < count; ++i) Step(&text, other);
    return text;
  }

  std::string Bytes(size_t most) {
    std::string bytes(Below(most + 1), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
  }

 private:
  void Step(std::string* text, const std::string& other) {
    static constexpr std::string_view kTelling = "0123456789x:=-+.,{}[]\"\\ \n\t\0e";
    const size_t at = Below(text->size() + 1);
    const char byte = Below(4) == 0 ? static_cast<char>(random_()) : kTelling[Below(kTelling.size())];
    switch (Below(6)) {
      case 0:
        if (at < text->size()) (*text)[at] = byte;
        break;
      case 1:
        text->insert(at, 1, byte);
        break;
      case 2:
        text->erase(at, 1 + Below(8));
        break;
      case 3:
        text->insert(at, text->substr(Below(text->size() + 1), Below(20)));
        break;
      case 4:
        text->insert(at, std::string(Below(30), static_cast<char>('0' + Below(10))));
        break;
      default:
        text->replace(at, Below(12), other.substr(Below(other.size() + 1), Below(12)));
    }
  }

  std::mt19937 random_;
};

void ExpectOneLine(const absl::Status& status, std::string_view prefix) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_TRUE(message.starts_with(prefix)) << message;
  EXPECT_LT(message.size(), 340u) << message;
  for (char c : message) ASSERT_TRUE(c >= ' ' && c <= '~') << ::testing::PrintToString(message);
}

TEST(SpecFuzzTest, TenThousandMalformedSpecs) {
  const std::vector<std::string> seeds = {
      "matmul f32 64x64x64",
      "matmul f32 4:64x1x64 lhs=col rhs=col out=col",
      "matmul bf16*bf16->f32 17x1031x523 lda=2000 ldb=600 ldc=524 accumulate",
      "matmul f32 1048576x4096x1 ldc=1 accumulate lhs=row",
      "matmul u8*s8->u8 9x1031x23 accumulate epilogue=add:n,f32,mul:0.5",
      "matmul f32 1048576:1x1x1 lda=4096 out=col ldc=77",
  };
  Mutator mutator(20240607);
  int valid = 0, malformed = 0;
  while (malformed < 10000) {
    const std::string text = mutator.Below(10) == 0 ? mutator.Bytes(80)
                                                    : mutator.Mutate(seeds[mutator.Below(seeds.size())],
                                                                     seeds[mutator.Below(seeds.size())]);
    absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
    if (!parsed.ok()) {
      ++malformed;
      ExpectOneLine(parsed.status(), "spec:");
      continue;
    }
    ++valid;
    absl::StatusOr<ParsedSpec> again = ParseSpec(parsed->text);
    ASSERT_TRUE(again.ok()) << parsed->text << ": " << again.status();
    EXPECT_EQ(*again, *parsed) << parsed->text;
    for (int operand = 0; operand < 3; ++operand) {
      const TileExtent extent = ExtentOf(parsed->spec, operand);
      EXPECT_LE(extent.batch * extent.outer * parsed->spec.tensor(operand).layout.ld, kMaxElements)
          << parsed->text;
    }
  }
  EXPECT_GT(valid, 100) << "the mutations are too wild to reach the checks behind the syntax";
}

TEST(FamilyFuzzTest, TenThousandMalformedFamilies) {
  const std::vector<std::string> seeds = {
      "matmul f32 1..64x64x64",
      "matmul f32 1..64x64x64 const-rhs mixture=1:0.7,64:0.3",
      "matmul f32 1..4:64x1..64x64 lhs=col rhs=col out=col",
      "matmul u8*s8->s16 1..17x1031x23..523 lda=2000 ldb=600 ldc=524 accumulate",
      "matmul f32 1..1048576x1..4096x1..4096 ldc=4096 accumulate lhs=row",
      "matmul f32 1048576:1x1x1..1 lda=4096 out=col ldc=77",
  };
  Mutator mutator(20240610);
  int valid = 0, malformed = 0;
  while (malformed < 10000) {
    const std::string text = mutator.Below(10) == 0 ? mutator.Bytes(80)
                                                    : mutator.Mutate(seeds[mutator.Below(seeds.size())],
                                                                     seeds[mutator.Below(seeds.size())]);
    const absl::StatusOr<SpecFamily> family = ParseFamily(text);
    if (!family.ok()) {
      ++malformed;
      ExpectOneLine(family.status(), "spec:");
      EXPECT_FALSE(ParseSpec(text).ok()) << text;
      continue;
    }
    ++valid;
    const absl::StatusOr<SpecFamily> again = ParseFamily(family->text());
    ASSERT_TRUE(again.ok()) << family->text() << ": " << again.status();
    EXPECT_EQ(again->text(), family->text());
    for (const FamilySizes which : {FamilySizes::kEverySize, FamilySizes::kUsual}) {
      EXPECT_EQ(family->member(0, which), family->member(0));
      const int64_t last = family->count(which) - 1;
      EXPECT_EQ(family->member(last, which), again->member(family->count() - 1));
    }
  }
  EXPECT_GT(valid, 100) << "the mutations are too wild to reach the checks behind the syntax";
}

TEST(KernelFileFuzzTest, FiveThousandMalformedFiles) {
  const std::string seed =
      "# ours\n\nsmall = matmul f32 4x5x6 # it is\n matmul f32 1..3x8x8 rhs=col\r\nb=matmul f32 4x5x6 "
      "lhs=col\n";
  Mutator mutator(20240611);
  int valid = 0, malformed = 0;
  while (malformed < 5000) {
    const std::string text = mutator.Below(10) == 0 ? mutator.Bytes(80) : mutator.Mutate(seed, seed);
    const absl::StatusOr<std::vector<KernelRequest>> requests = ParseKernelFile(text, "k");
    if (requests.ok()) {
      ++valid;
      continue;
    }
    ++malformed;
    ExpectOneLine(requests.status(), "k:");
  }
  EXPECT_GT(valid, 100) << "the mutations are too wild to reach the checks behind the syntax";
}

TEST(TargetFuzzTest, MutatedTargetFiles) {
  Mutator mutator(20240608);
  int valid = 0, malformed = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string base(TargetFiles()[mutator.Below(TargetFiles().size())].text);
    const std::string other(TargetFiles()[mutator.Below(TargetFiles().size())].text);
    const std::string text = mutator.Below(10) == 0 ? mutator.Bytes(200) : mutator.Mutate(base, other);
    absl::StatusOr<TargetFile> parsed = ParseTarget(text, "t.json");
    if (!parsed.ok()) {
      ++malformed;
      ExpectOneLine(parsed.status(), "t.json:");
      continue;
    }
    ++valid;
    absl::StatusOr<TargetFile> again = ParseTarget(PrintTarget(parsed->target), "t.json");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->target == parsed->target);
  }
  EXPECT_GT(valid, 1000);
  EXPECT_GT(malformed, 1000);
}

TEST(ScheduleFuzzTest, MutatedSchedules) {
  const std::string base =
      "tile n 256\n  pack rhs L2 packed16x2-col bf16\n    move lhs L1  # comment\n      move out VRF "
      "vectors16\n"
      "        microkernel\n  parallel m 10 2\n    search\n";
  Mutator mutator(20240609);
  int valid = 0, malformed = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string text = mutator.Below(10) == 0 ? mutator.Bytes(200) : mutator.Mutate(base, base);
    absl::StatusOr<Schedule> schedule = ParseSchedule(text, "s", OpKind::kMatmul);
    schedule.ok() ? ++valid : ++malformed;
    if (!schedule.ok()) ExpectOneLine(schedule.status(), "s:");
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(malformed, 1000);
}

}  // namespace
}  // namespace kirsch
