// SPDX-License-Identifier: Apache-2.0
// A NULL where libkirsch wants an address ended the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "library/kirsch.h"

namespace {

using ::testing::HasSubstr;

void ExpectBadInput(kirsch_error* error, const std::string& message) {
  EXPECT_EQ(kirsch_error_code(error), KIRSCH_BAD_INPUT) << message;
  EXPECT_THAT(kirsch_error_message(error), HasSubstr(message));
  kirsch_error_free(error);
}

TEST(NullArgument, HandlesOfAllFunctions) {
  kirsch_context* context = nullptr;
  ASSERT_EQ(kirsch_context_create(nullptr, &context), nullptr);
  kirsch_request* request = nullptr;
  ASSERT_EQ(kirsch_parse("matmul f32 2x2x2", nullptr, &request), nullptr);

  kirsch_solution* solution = nullptr;
  ExpectBadInput(kirsch_solve(nullptr, request, nullptr, &solution), "context: ");
  ExpectBadInput(kirsch_solve(context, nullptr, nullptr, &solution), "request: ");
  ExpectBadInput(kirsch_solve(context, request, nullptr, nullptr), "result: ");
  kirsch_request* none = request;
  ExpectBadInput(kirsch_parse(nullptr, nullptr, &none), "text: ");
  EXPECT_EQ(none, nullptr);

  kirsch_operand operand;
  ExpectBadInput(kirsch_request_operand(nullptr, nullptr, 0, 0, &operand), "request: ");
  kirsch_cost cost;
  ExpectBadInput(kirsch_solution_cost(nullptr, nullptr, 0, &cost), "solution: ");
  char* text = nullptr;
  ExpectBadInput(kirsch_solution_explain(nullptr, &text), "solution: ");
  ExpectBadInput(kirsch_solution_header(nullptr, "f", &text), "solution: ");
  kirsch_kernel* kernel = nullptr;
  ExpectBadInput(kirsch_compile(nullptr, &kernel), "solution: ");
  ExpectBadInput(kirsch_call(nullptr, nullptr), "kernel: ");
  ExpectBadInput(kirsch_call_part(nullptr, nullptr, nullptr), "kernel: ");
  ExpectBadInput(kirsch_kernel_pack(nullptr, nullptr, 0, nullptr), "kernel: ");
  kirsch_request_destroy(request);
  kirsch_context_destroy(context);
}

TEST(NullArgument, WhatOnlyTellsSaysNothing) {
  EXPECT_EQ(kirsch_request_name(nullptr), nullptr);
  EXPECT_EQ(kirsch_request_num_sizes(nullptr), 0u);
  EXPECT_EQ(kirsch_request_size_name(nullptr, 0), nullptr);
  EXPECT_EQ(kirsch_request_num_values(nullptr, 0), 0u);
  EXPECT_EQ(kirsch_request_value(nullptr, 0, 0), 0u);
  EXPECT_EQ(kirsch_request_num_operands(nullptr), 0u);
  EXPECT_EQ(kirsch_solution_target(nullptr), nullptr);
  EXPECT_EQ(kirsch_kernel_packed_bytes(nullptr), 0u);
  EXPECT_EQ(kirsch_kernel_threads(nullptr), 0);
  EXPECT_EQ(kirsch_kernel_scratch_bytes(nullptr), 0u);
  EXPECT_EQ(kirsch_kernel_shared_bytes(nullptr), 0u);
  EXPECT_EQ(kirsch_kernel_phases(nullptr), 0u);
  kirsch_request_destroy(nullptr);
  kirsch_context_destroy(nullptr);
  kirsch_solution_destroy(nullptr);
  kirsch_kernel_destroy(nullptr);
}

TEST(NullArgument, PackedMemoryThatIsThere) {
  kirsch_context* context = nullptr;
  ASSERT_EQ(kirsch_context_create(nullptr, &context), nullptr);
  kirsch_request* request = nullptr;
  ASSERT_EQ(kirsch_parse("matmul f32 4x64x64 const-rhs", nullptr, &request), nullptr);
  kirsch_solution* solution = nullptr;
  ASSERT_EQ(kirsch_solve(context, request, nullptr, &solution), nullptr);
  kirsch_kernel* kernel = nullptr;
  ASSERT_EQ(kirsch_compile(solution, &kernel), nullptr);
  if (kirsch_kernel_packed_bytes(kernel) > 0) {
    float rhs[64 * 64] = {};
    void* operands[] = {nullptr, rhs, nullptr};
    ExpectBadInput(kirsch_kernel_pack(kernel, operands, 3, nullptr), "packed: ");
  }
  kirsch_kernel_destroy(kernel);
  kirsch_solution_destroy(solution);
  kirsch_request_destroy(request);
  kirsch_context_destroy(context);
}

}  // namespace
