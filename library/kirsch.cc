// SPDX-License-Identifier: Apache-2.0
// Implements the functions of kirsch.h. Each checks its arguments, catches what is thrown, and leaves the
// work to a class that knows nothing of C: requests (request.h), solutions (solved_kernel.h), kernels
// (kernel.h).
//
//   kirsch_solve  ->  MakeHandle: nothing is NULL  ->  SolveRequest  ->  a handle, or an error
#include "library/kirsch.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "library/error.h"
#include "library/extension.h"
#include "library/kernel.h"
#include "library/request.h"
#include "library/solved_kernel.h"
#include "spec/dtype.h"
#include "spec/graph/types.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

// The handles of the interface. A handle owns all that it needs: those that it was made from may be destroyed
// before it.
struct kirsch_request {
  kirsch::KernelRequest request;
  std::vector<kirsch::VaryingSize> sizes;
  std::vector<std::string> names;  // of the operands, which all members have
};

// What all searches of a context share. Nothing in it changes, so threads may use it at once.
struct kirsch_context {
  kirsch::DbOptions table;
  kirsch::Remark remark;
  int search_threads = 1;
  std::optional<kirsch::Callbacks> extension;
};

struct kirsch_solution {
  kirsch::SolvedKernel solution;
};

struct kirsch_kernel {
  std::unique_ptr<kirsch::CallableKernel> kernel;
};

namespace kirsch {
namespace {

// Specs have a byte for their threads.
constexpr int kMostThreads = 255;

// Returns the type's row; null for a number that is no type of callers'. Types are numbered in the interface
// as in the table (a test compares kirsch.h with it).
const DtypeInfo* TypeOf(kirsch_type type) {
  const auto number = static_cast<size_t>(type);
  return number < kDtypes.size() && IsOfCallers(kDtypes[number].dtype) ? &kDtypes[number] : nullptr;
}

// A text that may be left out.
std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

// An argument that must not be NULL, and its name in errors.
struct Given {
  const void* pointer;
  std::string_view name;
};

// Returns InvalidArgument, with the name of the first argument that is NULL: "request: expected an address,
// got NULL".
absl::Status CheckGiven(absl::Span<const Given> arguments) {
  for (const Given& argument : arguments)
    if (argument.pointer == nullptr)
      return absl::InvalidArgumentError(Cat(argument.name, ": expected an address, got NULL"));
  return absl::OkStatus();
}

// Reads the text. A family of so many sizes that only some are searched is refused: callers may ask for any
// of them.
absl::StatusOr<std::unique_ptr<kirsch_request>> Parse(const char* text, const char* kernel) {
  KIRSCH_ASSIGN_OR_RETURN(KernelRequest parsed, ParseOneKernel(text, TextOf(kernel)));
  if (absl::Status few = CheckEachLookedAt(parsed.sizes()); !few.ok())
    return absl::InvalidArgumentError(Cat("text: ", std::string(few.message())));
  // Names are the same for all members, so the first one has them.
  auto request = std::make_unique<kirsch_request>();
  request->sizes = parsed.sizes();
  for (const CallOperand& operand : OperandsOf(parsed, 0)) request->names.push_back(operand.name);
  request->request = std::move(parsed);
  return request;
}

// Fills in operand `index` of the member with these sizes. Its name lives as long as the request.
absl::Status Describe(const kirsch_request& request, absl::Span<const size_t> sizes, size_t index,
                      kirsch_operand* operand) {
  KIRSCH_ASSIGN_OR_RETURN(const int64_t member, FindMember(request.sizes, sizes));
  const std::vector<CallOperand> operands = OperandsOf(request.request, member);
  if (index >= operands.size())
    return absl::InvalidArgumentError(Cat("index: expected one below ", operands.size(), ", got ", index));
  // All of the struct is set: shapes beyond the rank are 0.
  const CallOperand& one = operands[index];
  *operand = {};
  operand->name = request.names[index].c_str();
  operand->type = static_cast<kirsch_type>(CallersType(one.dtype));
  operand->rank = static_cast<int>(one.shape.size());
  // The interface has room for more axes than there are, so that its structs can stay as they are.
  static_assert(kirsch::kMaxRank <= KIRSCH_MAX_RANK);
  std::ranges::copy(one.shape, operand->shape);
  std::ranges::copy(one.stride, operand->stride);
  operand->is_output = one.output;
  operand->is_read = one.read;
  operand->is_constant = one.constant;
  return absl::OkStatus();
}

// Checks the options and keeps copies of their texts.
absl::StatusOr<std::unique_ptr<kirsch_context>> MakeContext(const kirsch_context_options* given) {
  KIRSCH_ASSIGN_OR_RETURN(const kirsch_context_options options, OptionsOf(given));
  if (options.search_threads < 0 || options.search_threads > kMostThreads)
    return absl::InvalidArgumentError(
        Cat("search_threads: expected 0 to ", kMostThreads, ", got ", options.search_threads));
  auto context = std::make_unique<kirsch_context>();
  // Remarks are passed on; without a function for them, nobody is told.
  context->remark = [tell = options.remark, user = options.user](const std::string& text) {
    if (tell != nullptr) tell(user, text.c_str());
  };
  context->table = {TextOf(options.table), options.table == nullptr, context->remark,
                    std::make_shared<TablePool>()};
  if (options.table != nullptr && context->table.path.empty())
    return absl::InvalidArgumentError("table: expected a file or a directory, got nothing");
  context->search_threads = options.search_threads > 0 ? options.search_threads : ReadHost().cores;
  if (options.extension == nullptr) return context;
  KIRSCH_ASSIGN_OR_RETURN(context->extension, Callbacks::Read(*options.extension));
  return context;
}

// Prices are of steps of contractions, so plans of graphs and rules of families can't go by them.
absl::Status CheckSingle(const KernelRequest& request, const SolveArguments& search) {
  if (request.family.graphs() == nullptr && request.count() == 1 && !search.allow_winograd)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      "extension: expected a single matmul or convolution without Winograd's algorithm, got a graph or a "
      "family");
}

// Checks the options and searches, with the table and threads of the context.
absl::StatusOr<std::unique_ptr<kirsch_solution>> SolveRequest(const kirsch_context& context,
                                                              const kirsch_request& request,
                                                              const kirsch_solve_options* given) {
  KIRSCH_ASSIGN_OR_RETURN(const kirsch_solve_options options, OptionsOf(given));
  if (options.threads < 0 || options.threads > kMostThreads)
    return absl::InvalidArgumentError(
        Cat("threads: expected 1 to ", kMostThreads, ", got ", options.threads));
  // Written so that a NaN is refused, too.
  if (!(options.time_budget >= 0))
    return absl::InvalidArgumentError("time_budget: expected a number of seconds, or 0");
  SolveArguments search;
  // The kernel's threads, and those of the search, have nothing to do with each other.
  search.threads = std::max(options.threads, 1);
  search.search_threads = context.search_threads;
  search.time_budget = options.time_budget;
  search.cold = TextOf(options.cold);
  search.allow_winograd = options.allow_winograd != 0;
  if (options.schedule != nullptr) search.schedule = {"schedule", options.schedule};
  // Without a target, the kernel is for the machine that it is made on.
  const std::string target = options.target == nullptr ? "host" : options.target;
  // Each request has its own, which knows what went wrong in its search.
  const auto extension =
      context.extension ? std::make_shared<CallbackExtension>(*context.extension) : nullptr;
  if (extension != nullptr) KIRSCH_RETURN_IF_ERROR(CheckSingle(request.request, search));
  absl::StatusOr<SolvedKernel> solution =
      SolvedKernel::Find(request.request, target, search, context.table, context.remark, extension);
  if (extension != nullptr && !extension->status().ok()) return extension->status();
  if (!solution.ok()) return solution.status();
  return std::make_unique<kirsch_solution>(kirsch_solution{*std::move(solution)});
}

// Calls `function`, which returns a Status, if nothing of `given` is NULL.
template <typename Function>
kirsch_error* GuardedCall(absl::Span<const Given> given, const Function& function,
                          Precondition precondition = Precondition::kTable) {
  return Guarded(
      [&]() -> absl::Status {
        KIRSCH_RETURN_IF_ERROR(CheckGiven(given));
        return function();
      },
      precondition);
}

// Leaves what `make` makes in `made`; null, if there is an error. So a caller may destroy it either way.
template <typename Handle, typename Make>
kirsch_error* MakeHandle(Handle** made, std::initializer_list<Given> given, const Make& make,
                         Precondition precondition = Precondition::kTable) {
  if (made != nullptr) *made = nullptr;
  return GuardedCall(
      {{made, "result"}},
      [&]() -> absl::Status {
        KIRSCH_RETURN_IF_ERROR(CheckGiven(given));
        // The handle is the caller's from here on.
        KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<Handle> handle, make());
        *made = handle.release();
        return absl::OkStatus();
      },
      precondition);
}

// Does the same for a text that is made of a solution.
template <typename Make>
kirsch_error* MakeText(const kirsch_solution* solution, char** text, const Make& make) {
  if (text != nullptr) *text = nullptr;
  return GuardedCall({{text, "text"}, {solution, "solution"}}, [&]() -> absl::Status {
    KIRSCH_ASSIGN_OR_RETURN(const std::string made, make());
    *text = NewText(made);
    return absl::OkStatus();
  });
}

// Checks the arrays, which may be NULL where they are empty. Their elements are checked by the kernel.
absl::Status CheckArguments(const kirsch_arguments& arguments) {
  if (arguments.num_sizes > 0) KIRSCH_RETURN_IF_ERROR(CheckGiven({{arguments.sizes, "sizes"}}));
  return arguments.num_operands > 0 ? CheckGiven({{arguments.operands, "operands"}}) : absl::OkStatus();
}

// Calls `function` with the arguments that were given.
template <typename Function>
kirsch_error* WithArguments(const kirsch_kernel* kernel, const kirsch_arguments* given,
                            const Function& function) {
  return GuardedCall({{kernel, "kernel"}}, [&]() -> absl::Status {
    KIRSCH_ASSIGN_OR_RETURN(const kirsch_arguments arguments, OptionsOf(given));
    KIRSCH_RETURN_IF_ERROR(CheckArguments(arguments));
    return function(arguments);
  });
}

// Returns a family's sizes as they were given.
absl::StatusOr<absl::Span<const size_t>> SizesOf(const size_t* sizes, size_t num_sizes) {
  if (num_sizes > 0) KIRSCH_RETURN_IF_ERROR(CheckGiven({{sizes, "sizes"}}));
  return absl::MakeConstSpan(sizes, num_sizes);
}

}  // namespace
}  // namespace kirsch

using kirsch::GuardedCall;
using kirsch::MakeHandle;
using kirsch::MakeText;
using kirsch::WithArguments;

// Functions that only tell something need no error: they say NULL or 0 of a handle that is NULL. To destroy
// NULL does nothing, as `delete` does.
const char* kirsch_version(void) { return KIRSCH_VERSION; }
int kirsch_api_version(void) { return KIRSCH_API_MAJOR * 1000 + KIRSCH_API_MINOR; }

kirsch_code kirsch_error_code(const kirsch_error* error) {
  return error == nullptr ? KIRSCH_OK : error->code;
}
const char* kirsch_error_message(const kirsch_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}
// The error for too little memory is there for the whole process, so it is the one that is not freed.
void kirsch_error_free(kirsch_error* error) {
  if (error != kirsch::OutOfMemory()) delete error;
}
// Texts come from malloc (NewText), since callers may be written in C.
void kirsch_free_text(char* text) { std::free(text); }

// Names are literals, so they end in a zero and live as long as the process.
const char* kirsch_type_name(kirsch_type type) {
  const kirsch::DtypeInfo* const known = kirsch::TypeOf(type);
  return known == nullptr ? nullptr : known->name.data();
}
size_t kirsch_type_block(kirsch_type type) {
  const kirsch::DtypeInfo* const known = kirsch::TypeOf(type);
  return known == nullptr ? 0 : static_cast<size_t>(known->block);
}
size_t kirsch_type_bytes(kirsch_type type) {
  const kirsch::DtypeInfo* const known = kirsch::TypeOf(type);
  return known == nullptr ? 0 : static_cast<size_t>(known->bytes);
}

// Requests know nothing of CPUs or tables: they are the text, taken apart.
kirsch_error* kirsch_parse(const char* text, const char* kernel, kirsch_request** request) {
  return MakeHandle(request, {{text, "text"}}, [&] { return kirsch::Parse(text, kernel); });
}
void kirsch_request_destroy(kirsch_request* request) { delete request; }

const char* kirsch_request_name(const kirsch_request* request) {
  return request == nullptr ? nullptr : request->request.name.c_str();
}
size_t kirsch_request_num_sizes(const kirsch_request* request) {
  return request == nullptr ? 0 : request->sizes.size();
}
// Names and values are there for a family's sizes only; other requests have no sizes.
const char* kirsch_request_size_name(const kirsch_request* request, size_t size) {
  return size < kirsch_request_num_sizes(request) ? request->sizes[size].name.c_str() : nullptr;
}
// A size that there is not has no values; kirsch_request_value rests on that.
size_t kirsch_request_num_values(const kirsch_request* request, size_t size) {
  return size < kirsch_request_num_sizes(request) ? request->sizes[size].values.size() : 0;
}
size_t kirsch_request_value(const kirsch_request* request, size_t size, size_t index) {
  return index < kirsch_request_num_values(request, size) ? request->sizes[size].values[index] : 0;
}
size_t kirsch_request_num_operands(const kirsch_request* request) {
  return request == nullptr ? 0 : request->names.size();
}
// The sizes say which member of a family is described; shapes and strides differ between members, all else
// does not.
kirsch_error* kirsch_request_operand(const kirsch_request* request, const size_t* sizes, size_t num_sizes,
                                     size_t index, kirsch_operand* operand) {
  return GuardedCall({{request, "request"}, {operand, "operand"}}, [&]() -> absl::Status {
    KIRSCH_ASSIGN_OR_RETURN(const absl::Span<const size_t> values, kirsch::SizesOf(sizes, num_sizes));
    return kirsch::Describe(*request, values, index, operand);
  });
}

// A context has the options of all searches.
kirsch_error* kirsch_context_create(const kirsch_context_options* options, kirsch_context** context) {
  return MakeHandle(context, {}, [&] { return kirsch::MakeContext(options); });
}
void kirsch_context_destroy(kirsch_context* context) { delete context; }

// A solution has programs, but no code. Its texts are made when they are asked for.
kirsch_error* kirsch_solve(const kirsch_context* context, const kirsch_request* request,
                           const kirsch_solve_options* options, kirsch_solution** solution) {
  return MakeHandle(solution, {{context, "context"}, {request, "request"}},
                    [&] { return kirsch::SolveRequest(*context, *request, options); });
}
void kirsch_solution_destroy(kirsch_solution* solution) { delete solution; }

const char* kirsch_solution_target(const kirsch_solution* solution) {
  return solution == nullptr ? nullptr : solution->solution.target().name.c_str();
}
// Each member of a family has a cost of its own.
kirsch_error* kirsch_solution_cost(const kirsch_solution* solution, const size_t* sizes, size_t num_sizes,
                                   kirsch_cost* cost) {
  return GuardedCall({{solution, "solution"}, {cost, "cost"}}, [&]() -> absl::Status {
    KIRSCH_ASSIGN_OR_RETURN(const absl::Span<const size_t> values, kirsch::SizesOf(sizes, num_sizes));
    KIRSCH_ASSIGN_OR_RETURN(const int64_t member,
                            kirsch::FindMember(solution->solution.request().sizes(), values));
    *cost = solution->solution.MemberCost(member);
    return absl::OkStatus();
  });
}
kirsch_error* kirsch_solution_query(const kirsch_solution* solution, const size_t* sizes, size_t num_sizes,
                                    char** json) {
  return MakeText(solution, json, [&]() -> absl::StatusOr<std::string> {
    KIRSCH_ASSIGN_OR_RETURN(const absl::Span<const size_t> values, kirsch::SizesOf(sizes, num_sizes));
    KIRSCH_ASSIGN_OR_RETURN(const int64_t member,
                            kirsch::FindMember(solution->solution.request().sizes(), values));
    return solution->solution.Answer(member);
  });
}
kirsch_error* kirsch_solution_explain(const kirsch_solution* solution, char** text) {
  return MakeText(solution, text, [&] { return solution->solution.Explain(); });
}
// The name that callers leave out is that of the request.
kirsch_error* kirsch_solution_header(const kirsch_solution* solution, const char* name, char** text) {
  return MakeText(solution, text, [&] {
    return solution->solution.Header(name == nullptr ? solution->solution.request().name : name);
  });
}

// Here FailedPrecondition means that this CPU can't run the code; everywhere else, that a table is none of
// ours.
kirsch_error* kirsch_compile(const kirsch_solution* solution, kirsch_kernel** kernel) {
  return MakeHandle(
      kernel, {{solution, "solution"}},
      [&]() -> absl::StatusOr<std::unique_ptr<kirsch_kernel>> {
        KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<kirsch::CallableKernel> compiled,
                                kirsch::CallableKernel::Compile(solution->solution));
        return std::make_unique<kirsch_kernel>(kirsch_kernel{std::move(compiled)});
      },
      kirsch::Precondition::kCpu);
}
void kirsch_kernel_destroy(kirsch_kernel* kernel) { delete kernel; }

// Arguments are structs that grow with versions of the interface. OptionsOf makes them whole, so that a
// caller with an older header is understood.
kirsch_error* kirsch_call(const kirsch_kernel* kernel, const kirsch_arguments* arguments) {
  return WithArguments(kernel, arguments,
                       [&](const kirsch_arguments& given) { return kernel->kernel->Call(given); });
}
// A part needs the same arguments from all threads; scratch memory is each thread's own.
kirsch_error* kirsch_call_part(const kirsch_kernel* kernel, const kirsch_arguments* arguments,
                               const kirsch_part* part) {
  return WithArguments(kernel, arguments, [&](const kirsch_arguments& given) -> absl::Status {
    const absl::StatusOr<kirsch_part> share = kirsch::OptionsOf(part);
    return share.ok() ? kernel->kernel->CallPart(given, *share) : share.status();
  });
}
size_t kirsch_kernel_packed_bytes(const kirsch_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel->packed_bytes();
}
// The kernel checks the constants one by one; other operands may be NULL.
kirsch_error* kirsch_kernel_pack(const kirsch_kernel* kernel, void* const* operands, size_t num_operands,
                                 void* packed) {
  return GuardedCall({{kernel, "kernel"}}, [&]() -> absl::Status {
    if (num_operands > 0) KIRSCH_RETURN_IF_ERROR(kirsch::CheckGiven({{operands, "operands"}}));
    return kernel->kernel->Pack({operands, num_operands}, packed);
  });
}
// Sizes of memory that callers of kirsch_call_part give.
int kirsch_kernel_threads(const kirsch_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel->threads();
}
size_t kirsch_kernel_scratch_bytes(const kirsch_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel->scratch_bytes();
}
size_t kirsch_kernel_shared_bytes(const kirsch_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel->shared_bytes();
}
size_t kirsch_kernel_phases(const kirsch_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel->phases();
}
