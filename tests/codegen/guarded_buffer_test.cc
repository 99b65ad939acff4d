// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/guarded_buffer.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <cstring>

#include "codegen/verify/verify_fault.h"

namespace kirsch {
namespace {

GuardedBuffer Make(size_t bytes, Placement placement, size_t shift = 0) {
  absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Create(bytes, placement, shift);
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  return *std::move(buffer);
}

volatile char sink;

bool ReadFaults(const char* at) {
  return CatchFault([&] { sink = *at; }).has_value();
}

bool WriteFaults(char* at) {
  return CatchFault([&] { *const_cast<volatile char*>(at) = 1; }).has_value();
}

class EverySize : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(, EverySize, ::testing::Values(0, 4, 60, 4092, 4096, 4100, 40000));

TEST_P(EverySize, FaultsRightBesideTheData) {
  const GuardedBuffer at_end = Make(GetParam(), Placement::kAtEnd);
  char* const end = static_cast<char*>(at_end.data()) + GetParam();
  EXPECT_TRUE(ReadFaults(end));
  if (GetParam() > 0) {
    EXPECT_FALSE(ReadFaults(end - 1));
  }
  const GuardedBuffer at_start = Make(GetParam(), Placement::kAtStart);
  char* const start = static_cast<char*>(at_start.data());
  EXPECT_TRUE(ReadFaults(start - 1));
  EXPECT_FALSE(ReadFaults(start));
}

TEST_P(EverySize, ShiftsAndSeesWritesBesideTheData) {
  for (Placement placement : {Placement::kAtStart, Placement::kAtEnd}) {
    const GuardedBuffer buffer = Make(GetParam(), placement, 12);
    char* const start = static_cast<char*>(buffer.data());
    if (placement == Placement::kAtStart) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(start) % 4096, 12u);
    }
    std::memset(start, 1, GetParam());
    EXPECT_TRUE(buffer.SlackIntact());
    (placement == Placement::kAtStart ? start[-1] : start[GetParam()]) = 1;
    EXPECT_FALSE(buffer.SlackIntact());
  }
}

TEST(GuardedBufferTest, ReadOnlyRefusesWrites) {
  GuardedBuffer buffer = Make(100, Placement::kAtEnd);
  char* const start = static_cast<char*>(buffer.data());
  buffer.SetReadOnly(true);
  EXPECT_FALSE(ReadFaults(start));
  EXPECT_TRUE(WriteFaults(start));
  buffer.SetReadOnly(false);
  EXPECT_FALSE(WriteFaults(start));
}

TEST(GuardedBufferTest, OwnsItsPagesAndGuards) {
  const GuardedBuffer buffer = Make(100, Placement::kAtEnd);
  const char* const start = static_cast<char*>(buffer.data());
  EXPECT_TRUE(buffer.Owns(start));
  EXPECT_TRUE(buffer.Owns(start + 100));
  EXPECT_FALSE(buffer.Owns(start + 100 + 4096));
}

TEST(CatchFaultTest, TellsReadsFromWritesAndWhere) {
  const GuardedBuffer buffer = Make(8, Placement::kAtEnd);
  char* const end = static_cast<char*>(buffer.data()) + 8;
  const std::optional<Fault> read = CatchFault([&] { sink = end[3]; });
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->address, end + 3);
  EXPECT_FALSE(read->write);
  const std::optional<Fault> write = CatchFault([&] { *const_cast<volatile char*>(end) = 1; });
  ASSERT_TRUE(write.has_value());
  EXPECT_TRUE(write->write);
  EXPECT_EQ(CatchFault([] { __builtin_trap(); })->signal, SIGILL);
  EXPECT_FALSE(CatchFault([] {}).has_value());
}

}  // namespace
}  // namespace kirsch
