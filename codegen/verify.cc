#include "codegen/verify.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/jit.h"
#include "codegen/loop_program.h"
#include "codegen/lower.h"
#include "codegen/verify_header.h"
#include "spec/interpreter.h"

namespace kirsch {
namespace {

constexpr char kEntryName[] = "kirsch_verified";
constexpr size_t kAllTrials = 1000;
constexpr double kMostFlopsInterpretedOften = 1e9;  // above, it gets a single run
constexpr double kMostFlopsTwice = 5e10;            // above, the header gets a single run

RungReport Failed(const std::string& name, const absl::Status& status) {
  return {name, RungOutcome::kFailed, std::string(status.message())};
}

RungReport Skipped(const std::string& name, const std::string& why) {
  return {name, RungOutcome::kSkipped, why};
}

class Verifier {
 public:
  Verifier(const Impl& impl, const Target& target, const VerifyOptions& options)
      : impl_(impl),
        target_(target),
        options_(options),
        flops_(Flops(impl.spec)),
        program_(Lower(impl, target, kEntryName)),
        cannot_run_(WhyNotRun(program_.features, options.host_features)),
        ladder_(impl.spec, PlanTrials(impl.spec, program_.tasks, options.seed, options.most_flops_in_full)) {}

  VerifyReport Run() {
    // The C compiler works while the other rungs are climbed.
    absl::StatusOr<std::unique_ptr<HeaderBuild>> build = StartHeader();
    VerifyReport report;
    if (options_.interpreter) report.rungs.push_back(Interpreted());
    if (options_.jit) report.rungs.push_back(Jitted());
    if (options_.header) report.rungs.push_back(Compiled(std::move(build)));
    Judge(&report);
    report.max_error = ladder_.max_error();
    report.error_bound = ErrorBound(impl_.spec);
    return report;
  }

 private:
  bool Runs() const { return cannot_run_.empty(); }

  RungReport Interpreted() {
    const std::string name = kInterpreterRung;
    if (Runs() && options_.jit && flops_ > options_.most_flops_interpreted)
      return Skipped(name, "too large to interpret");
    Kernel kernel;
    kernel.name = name;
    absl::Status memory_use;
    kernel.run = [&](const void* lhs, const void* rhs, void* out, void*, size_t thread, size_t,
                     const void* arg1, const void* arg2, const void* arg3) {
      if (thread == 0)
        memory_use.Update(Interpret(impl_, target_, {lhs, rhs, nullptr, arg1, arg2, arg3}, out));
    };
    RungReport report = ladder_.Climb(kernel, flops_ > kMostFlopsInterpretedOften ? 1 : kAllTrials);
    return memory_use.ok() ? report : Failed(name, memory_use);
  }

  RungReport Jitted() {
    const std::string name = "jit";
    if (!Runs()) return Skipped(name, cannot_run_);
    const absl::StatusOr<std::unique_ptr<JitKernel>> jit = JitCompile(program_, target_, options_.abi);
    if (!jit.ok()) return Failed(name, jit.status());
    Kernel kernel{name, (*jit)->epilogue_function(), program_.scratch_bytes};
    SetPacking((*jit)->pack(), &kernel);
    if (options_.abi == Abi::kWin64 && kernel.pack)
      kernel.pack = [pack = (*jit)->win64_pack()](auto... arguments) { pack(arguments...); };
    if (options_.abi == Abi::kWin64)
      kernel.run = [run = (*jit)->win64_function()](auto... arguments) { run(arguments...); };
    return ladder_.Climb(OfRanges(std::move(kernel)), kAllTrials);
  }

  // One that computes ranges of columns, as one that threads share: a range for each.
  Kernel OfRanges(Kernel kernel) const {
    if (program_.block == 0) return kernel;
    const size_t columns = impl_.spec.size[static_cast<size_t>(BlockDim(impl_.spec))];
    kernel.run = [columns, run = kernel.run](const void* lhs, const void* rhs, void* out, void* scratch,
                                             size_t thread, size_t n_threads, auto... arguments) {
      run(lhs, rhs, out, scratch, columns * thread / n_threads, columns * (thread + 1) / n_threads,
          arguments...);
    };
    return kernel;
  }

  void SetPacking(PackFunction pack, Kernel* kernel) const {
    if (!program_.packing) return;
    kernel->packed_operand = program_.packing->operand;
    kernel->packed_bytes = program_.packing->bytes;
    kernel->pack = pack;
  }

  absl::StatusOr<std::unique_ptr<HeaderBuild>> StartHeader() const {
    if (!options_.header || !Runs()) return std::unique_ptr<HeaderBuild>();
    const absl::StatusOr<std::string> compiler = FindCompiler(options_.compiler);
    if (!compiler.ok()) return compiler.status();
    HeaderOptions header = options_.header_options;
    header.spec = impl_.spec;
    return HeaderBuild::Start(PrintHeader(program_, target_, header), program_, header.mode, *compiler);
  }

  RungReport Compiled(absl::StatusOr<std::unique_ptr<HeaderBuild>> build) {
    const std::string name = "header";
    if (!Runs()) return Skipped(name, cannot_run_);
    if (absl::IsNotFound(build.status())) return Skipped(name, std::string(build.status().message()));
    if (!build.ok()) return Failed(name, build.status());
    const absl::StatusOr<EpilogueKernelFunction> function = (*build)->Finish();
    if (!function.ok()) return Failed(name, function.status());
    Kernel kernel{name, *function, program_.scratch_bytes};
    SetPacking((*build)->pack(), &kernel);
    if (options_.header_options.swapped)
      kernel.run = [run = kernel.run](const void* lhs, const void* rhs, auto... rest) {
        run(rhs, lhs, rest...);
      };
    return ladder_.Climb(OfRanges(std::move(kernel)), flops_ > kMostFlopsTwice ? 1 : kAllTrials);
  }

  const Impl& impl_;
  const Target& target_;
  const VerifyOptions& options_;
  const double flops_;
  const LoopProgram program_;
  const std::string cannot_run_;
  Ladder ladder_;
};

}  // namespace

void Judge(VerifyReport* report) {
  bool failed = false, code = false, program = false;
  for (const RungReport& rung : report->rungs) {
    const bool passed = rung.outcome == RungOutcome::kPassed;
    (rung.name == kInterpreterRung ? program : code) |= passed;
    if (rung.outcome != RungOutcome::kFailed) continue;
    if (!failed) report->first_mismatch = absl::StrCat(rung.name, ": ", rung.text);
    failed = true;
  }
  report->verdict = failed    ? Verdict::kFailed
                    : code    ? Verdict::kVerified
                    : program ? Verdict::kProgramChecked
                              : Verdict::kUnverified;
  report->ok = report->verdict == Verdict::kVerified || report->verdict == Verdict::kProgramChecked;
}

std::string WhyNotRun(const std::vector<std::string>& features,
                      const std::vector<std::string>& host_features) {
  const std::string missing = FirstMissing(features, host_features);
  return missing.empty() ? "" : absl::StrCat("the host lacks ", missing);
}

VerifyReport VerifyKernel(const Impl& impl, const Target& target, const VerifyOptions& options) {
  return Verifier(impl, target, options).Run();
}

}  // namespace kirsch
