// SPDX-License-Identifier: Apache-2.0
// Wraps kirsch.h for C++17: handles own what they stand for, errors are values of class Result or, for those
// who like, exceptions. All of the wrapper is in this header, which calls the C interface only.
//
//   const kirsch::Context context = kirsch::Context::Create().value();
//   const kirsch::Request request = kirsch::Request::Parse("matmul f32 64x128x32").value();
//   const kirsch::Kernel kernel = context.Solve(request).value().Compile().value();
//   kernel({lhs, rhs, out}).value();  // arrays of 64 * 128, 128 * 32 and 64 * 32 floats
//
// Handles can be moved, not copied. Functions that are const may be called by several threads at once.
#ifndef KIRSCH_HPP_
#define KIRSCH_HPP_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kirsch.h"
#include "kirsch_extension.h"

namespace kirsch {

// A copy of a kirsch_error, so that nothing has to be freed.
struct Error {
  kirsch_code code = KIRSCH_OK;
  std::string message;
};

// The exception that Result::value throws. Nothing else of this header throws it.
class Exception : public std::runtime_error {
 public:
  explicit Exception(const Error& error) : std::runtime_error(error.message), code_(error.code) {}
  kirsch_code code() const { return code_; }

 private:
  kirsch_code code_;
};

// A value, or why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : result_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : result_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return result_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Only if it is not ok; else std::bad_variant_access is thrown.
  const Error& error() const { return std::get<1>(result_); }
  // Only if it is ok; else std::bad_variant_access is thrown.
  T& operator*() { return std::get<0>(result_); }
  const T& operator*() const { return std::get<0>(result_); }
  T* operator->() { return &std::get<0>(result_); }
  const T* operator->() const { return &std::get<0>(result_); }
  // Throws an Exception if it is not ok.
  T& value() & {
    if (!ok()) throw Exception(error());
    return **this;
  }
  T value() && {
    if (!ok()) throw Exception(error());
    return std::move(**this);
  }

 private:
  std::variant<T, Error> result_;
};

// The value of functions that have none.
struct Done {};

namespace internal {

// Takes the error over: copies and frees it. Nothing for NULL, which is no error.
inline std::optional<Error> Taken(kirsch_error* error) {
  if (error == nullptr) return std::nullopt;
  Error taken{kirsch_error_code(error), kirsch_error_message(error)};
  kirsch_error_free(error);
  return taken;
}

// A deleter for each kind of handle, of no size of its own.
template <auto kDestroy>
struct Destroyer {
  template <typename Handle>
  void operator()(Handle* handle) const {
    kDestroy(handle);
  }
};
template <typename Handle, auto kDestroy>
using Owned = std::unique_ptr<Handle, Destroyer<kDestroy>>;

// Calls a function of kirsch.h that leaves a handle in its last parameter, and wraps the handle.
template <typename T, typename Handle, typename Function>
Result<T> Made(const Function& function) {
  Handle* handle = nullptr;
  if (std::optional<Error> error = Taken(function(&handle))) return *std::move(error);
  return T(handle);
}

template <typename Function>
Result<std::string> MadeText(const Function& function) {
  char* text = nullptr;
  if (std::optional<Error> error = Taken(function(&text))) return *std::move(error);
  const Owned<char, kirsch_free_text> owned(text);
  return std::string(text);
}

// Returns the error as a Result; of NULL, Done.
inline Result<Done> DoneOr(kirsch_error* error) {
  if (std::optional<Error> taken = Taken(error)) return *std::move(taken);
  return Done{};
}

}  // namespace internal

using Sizes = std::vector<size_t>;  // of a family; else empty

// A kernel that is asked for, and its operands; see kirsch_parse.
class Request {
 public:
  explicit Request(kirsch_request* handle) : handle_(handle) {}
  // Reads the text. `kernel`: which of several kernels of the text; empty: the only one.
  static Result<Request> Parse(const std::string& text, const std::string& kernel = "") {
    return internal::Made<Request, kirsch_request>([&](kirsch_request** made) {
      return kirsch_parse(text.c_str(), kernel.empty() ? nullptr : kernel.c_str(), made);
    });
  }
  const kirsch_request* get() const { return handle_.get(); }
  std::string name() const { return kirsch_request_name(get()); }
  // Returns the inputs in their order, then the outputs, of the member with these sizes. Names live as long
  // as the request.
  Result<std::vector<kirsch_operand>> Operands(const Sizes& sizes = {}) const {
    std::vector<kirsch_operand> operands(kirsch_request_num_operands(get()));
    for (size_t i = 0; i < operands.size(); ++i)
      if (std::optional<Error> error =
              internal::Taken(kirsch_request_operand(get(), sizes.data(), sizes.size(), i, &operands[i])))
        return *std::move(error);
    return operands;
  }

 private:
  internal::Owned<kirsch_request, kirsch_request_destroy> handle_;
};

// Compiled code. It needs neither the solution nor the context any more.
class Kernel {
 public:
  explicit Kernel(kirsch_kernel* handle) : handle_(handle) {}
  const kirsch_kernel* get() const { return handle_.get(); }

  // Computes a whole call; see kirsch_call. Operands are pointers in the request's order, those of outputs
  // last; those of constants may be null, as `packed` stands for them.
  Result<Done> operator()(const std::vector<const void*>& operands, const Sizes& sizes = {},
                          const void* packed = nullptr) const {
    const kirsch_arguments arguments = Arguments(operands, sizes, packed);
    return internal::DoneOr(kirsch_call(get(), &arguments));
  }
  // Computes one thread's share of a call; see kirsch_call_part.
  Result<Done> Part(const kirsch_part& part, const std::vector<const void*>& operands,
                    const Sizes& sizes = {}, const void* packed = nullptr) const {
    const kirsch_arguments arguments = Arguments(operands, sizes, packed);
    return internal::DoneOr(kirsch_call_part(get(), &arguments, &part));
  }
  // Packs the constants among the operands into packed_bytes() bytes, 64-byte aligned; see
  // kirsch_kernel_pack.
  Result<Done> Pack(const std::vector<const void*>& operands, void* packed) const {
    return internal::DoneOr(
        kirsch_kernel_pack(get(), const_cast<void* const*>(operands.data()), operands.size(), packed));
  }
  // Bytes of memory that callers give; phases and threads of calls by parts. 0 threads: `part` has columns.
  size_t packed_bytes() const { return kirsch_kernel_packed_bytes(get()); }
  size_t scratch_bytes() const { return kirsch_kernel_scratch_bytes(get()); }
  size_t shared_bytes() const { return kirsch_kernel_shared_bytes(get()); }
  size_t phases() const { return kirsch_kernel_phases(get()); }
  int threads() const { return kirsch_kernel_threads(get()); }

 private:
  // Inputs are not written, though C's array of pointers doesn't say so.
  static kirsch_arguments Arguments(const std::vector<const void*>& operands, const Sizes& sizes,
                                    const void* packed) {
    return {sizeof(kirsch_arguments), sizes.data(), sizes.size(), const_cast<void* const*>(operands.data()),
            operands.size(),          packed};
  }

  internal::Owned<kirsch_kernel, kirsch_kernel_destroy> handle_;
};

// The program that a search found; see kirsch_solve. It needs no context.
class Solution {
 public:
  explicit Solution(kirsch_solution* handle) : handle_(handle) {}
  const kirsch_solution* get() const { return handle_.get(); }

  std::string target() const { return kirsch_solution_target(get()); }
  // Returns what is predicted of one call of the member with these sizes.
  Result<kirsch_cost> Cost(const Sizes& sizes = {}) const {
    kirsch_cost cost = {};
    if (std::optional<Error> error =
            internal::Taken(kirsch_solution_cost(get(), sizes.data(), sizes.size(), &cost)))
      return *std::move(error);
    return cost;
  }
  // Returns what the program is like, as JSON, for the member with these sizes; see kirsch_solution_query.
  Result<std::string> Query(const Sizes& sizes = {}) const {
    return internal::MadeText(
        [&](char** text) { return kirsch_solution_query(get(), sizes.data(), sizes.size(), text); });
  }
  // Returns why the program is what it is. It searches again, so it may take as long as Context::Solve.
  Result<std::string> Explain() const {
    return internal::MadeText([&](char** text) { return kirsch_solution_explain(get(), text); });
  }
  // Returns the kernel as a C header. `name`: of its function; empty: as the request is called.
  Result<std::string> Header(const std::string& name = "") const {
    return internal::MadeText([&](char** text) {
      return kirsch_solution_header(get(), name.empty() ? nullptr : name.c_str(), text);
    });
  }
  // Makes code for this process. KIRSCH_BAD_CPU if this CPU can't run it.
  Result<Kernel> Compile() const {
    return internal::Made<Kernel, kirsch_kernel>(
        [&](kirsch_kernel** made) { return kirsch_compile(get(), made); });
  }

 private:
  internal::Owned<kirsch_solution, kirsch_solution_destroy> handle_;
};

// Options of a search; see kirsch_solve_options. `cold`: operands that come from RAM; empty: none.
// `time_budget`: seconds; 0: no limit.
struct SolveOptions {
  std::string target = "host", cold;
  int threads = 1;
  double time_budget = 0;
  bool allow_winograd = false;
  std::string schedule = "";  // decisions that are given; empty: all are searched for
};

// Where answers are kept, and how many threads search; see kirsch_context_create.
class Context {
 public:
  explicit Context(kirsch_context* handle) : handle_(handle) {}
  // `table`: see kirsch_context_options; empty: none. `search_threads`: 0: as many as the machine has cores.
  // `extension`: prices and decisions of one's own (kirsch_extension.h); null: none.
  static Result<Context> Create(const std::string& table = "", int search_threads = 0,
                                const kirsch_extension* extension = nullptr) {
    const kirsch_context_options options = {
        sizeof options, table.empty() ? nullptr : table.c_str(), search_threads, nullptr, nullptr, extension};
    return internal::Made<Context, kirsch_context>(
        [&](kirsch_context** made) { return kirsch_context_create(&options, made); });
  }
  const kirsch_context* get() const { return handle_.get(); }

  // Searches for the cheapest program, or finds it in the table.
  Result<Solution> Solve(const Request& request, const SolveOptions& options = {}) const {
    const kirsch_solve_options given = {sizeof given,
                                        options.target.c_str(),
                                        options.threads,
                                        options.time_budget,
                                        options.cold.c_str(),
                                        options.allow_winograd ? 1 : 0,
                                        options.schedule.empty() ? nullptr : options.schedule.c_str()};
    return internal::Made<Solution, kirsch_solution>(
        [&](kirsch_solution** made) { return kirsch_solve(get(), request.get(), &given, made); });
  }

 private:
  internal::Owned<kirsch_context, kirsch_context_destroy> handle_;
};

}  // namespace kirsch

#endif  // KIRSCH_HPP_
