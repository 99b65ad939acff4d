#include "tools/solve.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "cost/cost_model.h"
#include "rewrites/rewrite.h"
#include "search/answer.h"
#include "search/limits.h"
#include "search/replay.h"
#include "search/search_within.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/quantity.h"
#include "spec/text/schedule.h"
#include "spec/text/text.h"
#include "tools/cold_operands.h"
#include "tools/interrupt.h"
#include "tools/prediction.h"
#include "tools/progress_line.h"

namespace kirsch {
namespace {

class SearchLine {
 public:
  SearchLine(std::string prefix, double ghz, bool wanted)
      : prefix_(std::move(prefix)), ghz_(ghz), line_(wanted) {}

  void Show(const SearchProgress& progress) {
    if (!line_.shows() || progress.seconds < shown_ + 0.2) return;
    shown_ = progress.seconds;
    std::string text = absl::StrFormat("%ssearching: %.1f s, %d specs", prefix_, progress.seconds,
                                       progress.stats.specs_solved);
    if (progress.best < kInfiniteCost)
      absl::StrAppendFormat(&text, ", best so far %s (%.0f cycles, bound %.0f)",
                            SecondsText(1e-9 * ToCycles(progress.best) / ghz_), ToCycles(progress.best),
                            ToCycles(progress.bound));
    line_.Show(text);
  }

 private:
  const std::string prefix_;
  const double ghz_;
  ProgressLine line_;
  double shown_ = 0;
};

absl::StatusOr<SearchResult> Follow(const std::string& path, const Spec& placed, const CostModel& model,
                                    Memo& memo, const SearchOptions& options) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<Schedule> schedule = ParseSchedule(*text, path, placed.op);
  if (!schedule.ok()) return schedule.status();
  return Replay(placed, *schedule, path, model, memo, options);
}

absl::StatusOr<SearchResult> SearchWithTable(const DbOptions& db, const Spec& spec, Lines available,
                                             const CostModel& model, Memo& memo, const SearchOptions& options,
                                             Table* opened) {
  if (opened != nullptr) return AnswerWithin(spec, available, model, memo, options, opened);
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<std::unique_ptr<Table>> table = OpenTable(db, model.target());
  if (!table.ok()) return table.status();
  const double opening = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  absl::StatusOr<SearchResult> result = AnswerWithin(spec, available, model, memo, options, table->get());
  if (!result.ok()) {
    if (absl::Status status = WithoutTable(db, result.status()); !status.ok()) return status;
    return SearchWithin(spec, available, model, memo, options);
  }
  if (*table == nullptr) return result;
  result->table_seconds += opening;
  if (absl::Status status = CommitTable(db, **table); !status.ok()) return status;
  return result;
}

// Calls search(options), which, on a console, shows its progress and ends with Ctrl-C.
template <typename SearchWith>
absl::StatusOr<SearchResult> WithOptions(const SolveArguments& arguments, const Target& target, Cost cutoff,
                                         const SearchWith& search) {
  const InterruptGuard guard(arguments.console);
  SearchLine line(arguments.progress, target.ghz, arguments.console);
  SearchOptions options;
  options.time_budget_seconds = arguments.time_budget;
  options.cancel = guard.flag();
  options.workers = arguments.search_threads;
  options.cutoff = cutoff;
  options.progress = [&line](const SearchProgress& progress) { line.Show(progress); };
  return search(options);
}

Spec RootFor(const SolveArguments& arguments, const ParsedSpec& parsed) {
  Spec root = parsed.spec;
  root.threads = static_cast<uint8_t>(arguments.threads);
  return root;
}

// The program of a request of its own, at the place of its operands where it is cheapest, or with the copy
// that is given.
absl::StatusOr<SearchResult> SolveRequest(const SolveArguments& arguments, const ParsedSpec& parsed,
                                          const CostModel& model, Memo& memo) {
  if (arguments.copy) {
    const UserRequest request = PlacedRequest(arguments, parsed, model.target());
    return SolvePacked(arguments, *WithCopy(request, *arguments.copy, model.target()), model, memo,
                       arguments.cutoff);
  }
  return AtCheapest(PlacementsOf(arguments, parsed, model.target()), arguments.cutoff,
                    [&](const Spec& placed_root, Cost cutoff) {
                      return SolvePlaced(arguments, placed_root, model, memo, cutoff);
                    });
}

// What packing costs, and what there would be without.
absl::Status AddPackingCost(const SolveArguments& arguments, const CostModel& model, Synthesis* synthesis) {
  const Impl& impl = synthesis->result.impl;
  const StopReason stop = synthesis->result.stop;
  const int operand = ConstantOperand(impl.spec);
  if (operand < 0 || (stop != StopReason::kOptimal && stop != StopReason::kPinned)) return absl::OkStatus();
  SolveArguments unpacked = arguments;
  unpacked.schedule.clear();
  unpacked.progress += "without const, ";
  Spec root = impl.spec;
  root.tensor(operand).constant = 0;
  const absl::StatusOr<SearchResult> result = SolvePlaced(unpacked, root, model, *synthesis->memo);
  if (!result.ok()) return result.status();
  if (result->stop != StopReason::kOptimal) return absl::OkStatus();
  Expansion expansion;
  Expand(impl.spec, impl.decision, model.target(), &expansion);
  synthesis->pack_cycles = model.PackCycles(impl.spec, impl.decision, expansion);
  synthesis->unpacked_cycles = ToCycles(result->cost);
  return absl::OkStatus();
}

nlohmann::ordered_json PackingJson(const Synthesis& synthesis) {
  const double saved = synthesis.unpacked_cycles - ToCycles(synthesis.result.cost);
  nlohmann::ordered_json json = {{"pack_cycles", synthesis.pack_cycles},
                                 {"unpacked_cycles", synthesis.unpacked_cycles},
                                 {"pays_from_call", nullptr}};
  if (saved > 0) json["pays_from_call"] = static_cast<int64_t>(std::ceil(synthesis.pack_cycles / saved));
  return json;
}

}  // namespace

absl::StatusOr<SearchResult> SolvePlaced(const SolveArguments& arguments, const Spec& placed,
                                         const CostModel& model, Memo& memo, Cost cutoff, Table* opened) {
  return WithOptions(arguments, model.target(), cutoff, [&](const SearchOptions& options) {
    if (!arguments.schedule.empty()) return Follow(arguments.schedule, placed, model, memo, options);
    const Lines available = AvailableAtHome(placed, model.target());
    return SearchWithTable(*arguments.db, placed, available, model, memo, options, opened);
  });
}

absl::StatusOr<SearchResult> SolvePacked(const SolveArguments& arguments, const PackedRequest& request,
                                         const CostModel& model, Memo& memo, Cost cutoff) {
  absl::StatusOr<SearchResult> result =
      WithOptions(arguments, model.target(), cutoff, [&](const SearchOptions& options) {
        return SearchWithTable(*arguments.db, request.kernel, request.available, model, memo, options,
                               nullptr);
      });
  if (result.ok()) result->impl = request.Program(std::move(result->impl));
  return result;
}

UserRequest PlacedRequest(const SolveArguments& arguments, const ParsedSpec& parsed, const Target& target) {
  return {PlaceOperands(RootFor(arguments, parsed), ColdOperands(arguments.cold, parsed), target),
          parsed.swapped};
}

std::vector<Spec> PlacementsOf(const SolveArguments& arguments, const ParsedSpec& parsed,
                               const Target& target) {
  return Placements(RootFor(arguments, parsed), ColdOperands(arguments.cold, parsed), target);
}

absl::Status CheckThreads(const SolveArguments& arguments, const Spec& spec) {
  if (spec.block == 0 || arguments.threads == 1) return absl::OkStatus();
  return absl::InvalidArgumentError("--threads: expected 1, as column-blocks leave threads to the caller");
}

absl::StatusOr<Synthesis> Solve(const SolveArguments& arguments, ParsedSpec parsed, const Target& target,
                                std::shared_ptr<Memo> memo) {
  if (absl::Status threads = CheckThreads(arguments, parsed.spec); !threads.ok()) return threads;
  if (arguments.tuner != nullptr)
    if (absl::Status tuning = arguments.tuner->Check(arguments); !tuning.ok()) return tuning;
  const InterruptGuard guard(arguments.console);  // from the search to what is tuned
  const CostModel model(target);
  absl::StatusOr<SearchResult> result = SolveRequest(arguments, parsed, model, *memo);
  if (!result.ok()) return result.status();
  Synthesis synthesis{std::move(parsed), target, *std::move(result), std::move(memo), 0, 0, {}};
  if (synthesis.result.stop == StopReason::kCutoff) return synthesis;
  absl::Status status =
      arguments.tuner != nullptr ? arguments.tuner->Tune(arguments, &synthesis) : absl::OkStatus();
  if (status.ok() && arguments.price_packing) status = AddPackingCost(arguments, model, &synthesis);
  if (!status.ok()) return status;
  return synthesis;
}

std::string_view StopName(const Synthesis& synthesis) {
  return IsTuned(synthesis.tuned) ? "tuned" : Name(synthesis.result.stop);
}

double PredictedGflops(const Synthesis& synthesis) {
  const double cycles = ToCycles(synthesis.result.cost);
  return cycles > 0 ? Flops(synthesis.parsed.spec) / cycles * synthesis.target.ghz : 0;
}

nlohmann::ordered_json SynthesisJson(const Synthesis& synthesis) {
  const SearchResult& result = synthesis.result;
  nlohmann::ordered_json json;
  json["spec"] = synthesis.parsed.text;
  json["target"] = synthesis.target.name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", result.seconds},
                    {"stop", std::string(StopName(synthesis))},
                    {"specs_solved", result.stats.specs_solved},
                    {"memo_hits", result.stats.memo_hits},
                    {"pruned", result.stats.pruned},
                    {"bound_cycles", ToCycles(result.bound)},
                    {"from_table", result.from_table},
                    {"table_seconds", result.table_seconds}};
  json["cost_cycles"] = ToCycles(result.cost);
  json["predicted_gflops"] = PredictedGflops(synthesis);
  if (synthesis.pack_cycles > 0) json["packing"] = PackingJson(synthesis);
  if (synthesis.tuned) json["tuned"] = synthesis.tuned->ToJson();
  json["schedule"] = PrintSchedule(result.impl);
  return json;
}

void PrintSummary(const Synthesis& synthesis) {
  const SearchResult& result = synthesis.result;
  const Target& target = synthesis.target;
  const Prediction prediction =
      PredictionOf(result.impl, ToCycles(result.cost), Flops(synthesis.parsed.spec), target);
  std::fprintf(stderr, "%s on %s: %s; %s, bound %.0f; %s in %.3f s%s\n", synthesis.parsed.text.c_str(),
               target.name.c_str(), PredictionText(prediction, target).c_str(),
               std::string(StopName(synthesis)).c_str(), ToCycles(result.bound),
               (result.from_table ? "from the table" : Cat(result.stats.specs_solved, " specs")).c_str(),
               result.seconds, PackedText(result.impl, target).c_str());
  if (synthesis.tuned) std::fprintf(stderr, "%s\n", synthesis.tuned->Summary().c_str());
}

}  // namespace kirsch
