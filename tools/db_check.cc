// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch db check [FILE]`: looks for damage in a table. Three checks, from the cheapest to the dearest:
//   the file:      checksums, SQLite's own check, pages in their one form, texts that can be parsed
//   the programs:  each entry leads to a whole program that the rewrites allow (Recaller)
//   the answers:   with --search, some roots are searched for again, and some bounds proven again
#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/limits.h"
#include "search/solver/search.h"
#include "search/solver/search_within.h"
#include "search/table/recall.h"
#include "spec/expansion.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "synthesis/tuning_report.h"
#include "tools/db_command.h"
#include "tools/options.h"

namespace kirsch {
namespace {

struct CheckArguments {
  TableChoice table;
  int search = 0;  // roots to search for again, and bounds to prove again
};

// A bound of the table: no program for the question costs less.
struct Proof {
  Question question;
  Cost bound = 0;
};

// True of a root, as a query asks for it: for one thread, with the caller's layouts, all operands at one
// level. Entries of other specs are parts of programs.
bool IsRoot(const Spec& spec) {
  if (spec.threads != 1 || spec.active_threads != 1) return false;
  for (int i = 0; i <= spec.op_info().output(); ++i) {
    const TensorSpec& tensor = spec.tensor(i);
    // A caller's operand is strided, or a window of an image.
    const bool callers = tensor.layout.kind == LayoutKind::kStrided || IsWindow(spec, i);
    if (!callers || tensor.resident != 0 || tensor.level == Level::kVrf ||
        tensor.level != spec.operand[0].level)
      return false;
  }
  return true;
}

// Collects findings about a table, and goes on after each: damage in one page says nothing about the others.
class Checker {
 public:
  // `model`: null if the table is another version's. Then its programs are not looked at. Both outlive this.
  Checker(Table& table, const CostModel* model) : table_(table), model_(model) {
    if (model != nullptr) recaller_.emplace(*model, table);
  }

  // Checks the file, all pages, and the texts of each kind.
  void CheckAll() {
    Note(table_.file()->CheckIntegrity());
    Note(table_.file()->ForEachPage(
        [this](const TableFile::StoredPage& page) {
          CheckPage(page);
          return absl::OkStatus();
        },
        [this](const absl::Status& damage) { Note(damage); }));
    plans_ = CheckTexts(TextKind::kPlan, [this](const std::string&, const std::string& schedule) {
      Note(ParsePlanSchedule(schedule, table_.file()->path()).status());
    });
    bounds_ = CheckTexts(TextKind::kBound, [this](const std::string& question, const std::string& bound) {
      CheckBound(question, bound);
    });
    tuned_ = CheckTexts(TextKind::kTuned, [this](const std::string&, const std::string& report) {
      if (!TuningReport::Parse(report))
        findings_.push_back(Cat("'", table_.file()->path(), "': damaged: a tuning that can't be read"));
    });
  }

  // Searches for up to `wanted` of the roots again, and proves as many bounds. They are drawn evenly. The
  // seed is fixed, so two runs look at the same ones.
  void SearchAgain(int wanted) {
    std::vector<Spec> drawn;
    std::mt19937_64 random(1);
    std::sample(roots_.begin(), roots_.end(), std::back_inserter(drawn), wanted, random);
    for (const Spec& root : drawn) SearchAgain(root);
    std::vector<Proof> proofs;
    std::sample(proofs_.begin(), proofs_.end(), std::back_inserter(proofs), wanted, random);
    for (const Proof& proof : proofs) ProveAgain(proof);
  }

  const std::vector<std::string>& findings() const { return findings_; }
  int64_t entries() const { return entries_; }
  int64_t pages() const { return pages_; }
  int64_t plans() const { return plans_; }
  int64_t tuned() const { return tuned_; }
  int64_t bounds() const { return bounds_; }
  int searched() const { return searched_; }

 private:
  void Note(const absl::Status& status) {
    if (!status.ok()) findings_.emplace_back(status.message());
  }

  // Calls check(question, answer) for each text of a kind. Returns how many could be read.
  template <typename Check>
  int64_t CheckTexts(TextKind kind, const Check& check) {
    int64_t count = 0;
    Note(table_.file()->ForEachText(
        kind,
        [&](const std::string& question, const std::string& answer) {
          ++count;
          check(question, answer);
          return absl::OkStatus();
        },
        [this](const absl::Status& damage) { Note(damage); }));
    return count;
  }

  // A finding about one entry says which spec and how many lines it is about:
  //   'o.db': damaged: 'matmul f32 8x8x8 lhs=row@L1 ...' with 512 lines: its program is not whole, or ...
  void NoteEntry(const Question& entry, const std::string& what) {
    findings_.push_back(Cat("'", table_.file()->path(), "': damaged: '", PrintSpec(entry.spec), "' with ",
                            entry.available, " lines: ", what));
  }

  // Checks that a page is stored in its one form, and then its entries.
  void CheckPage(const TableFile::StoredPage& stored) {
    ++pages_;
    const std::vector<PagePoint> points = stored.page.Points();
    // What a page says depends on its points alone. So a page made of the same points must have the same
    // bytes.
    const absl::StatusOr<Page> again = Page::Of(points);
    if (!again.ok() || again->Encode() != stored.page.Encode())
      findings_.push_back(Cat("'", table_.file()->path(), "': damaged: a page that is not in its one form"));
    for (const PagePoint& point : points) {
      ++entries_;
      const std::optional<Question> entry = QuestionAt({stored.key.plane, point.point});
      if (!entry)
        findings_.push_back(Cat("'", table_.file()->path(), "': damaged: an entry that is no spec"));
      else if (recaller_)
        CheckEntry(*entry);
    }
  }

  // Checks that the entry's program is whole. Remembers it if it is a root, for SearchAgain.
  void CheckEntry(const Question& entry) {
    const absl::StatusOr<std::optional<Solution>> found = recaller_->Find(entry.spec, entry.available);
    if (!found.ok()) return NoteEntry(entry, std::string(found.status().message()));
    if (!*found) return NoteEntry(entry, "its program is not whole, or needs more lines");
    // Entries of one spec, for different numbers of lines, come one after the other.
    if (IsRoot(entry.spec) && (roots_.empty() || !(roots_.back() == entry.spec)))
      roots_.push_back(entry.spec);
  }

  // Checks a bound against the program that the table has for the same question. If the program costs less,
  // one of the two is wrong.
  void CheckBound(const std::string& question, const std::string& text) {
    const std::optional<Question> asked = ParseBoundQuestion(question);
    const absl::StatusOr<Cost> bound = ParseBound(text);
    if (!asked || !bound.ok()) {
      findings_.push_back(Cat("'", table_.file()->path(), "': damaged: a bound that can't be read"));
    } else if (recaller_) {
      proofs_.push_back({*asked, *bound});
      const absl::StatusOr<std::optional<Solution>> found = recaller_->Find(asked->spec, asked->available);
      if (found.ok() && *found && (*found)->cost < *bound)
        NoteEntry(*asked, Cat("its program costs ", ToCycles((*found)->cost),
                              " cycles, less than its bound, ", ToCycles(*bound)));
    }
  }

  // Searches for a root without the table, and compares. The search is deterministic, so the program must be
  // the same, not only its cost.
  void SearchAgain(const Spec& root) {
    const Lines available = AvailableAtPlacement(root, model_->target());
    const absl::StatusOr<std::optional<Solution>> found = recaller_->Find(root, available);
    if (!found.ok() || !*found) return;  // it was part of a larger program; or noted already
    ++searched_;
    HashMemo memo;
    const SearchResult result = Search(root, *model_, memo, {});
    const Question entry{root, available};
    // First the costs, then the decisions: one finding for each root is enough.
    if (result.cost != (*found)->cost)
      NoteEntry(entry, Cat("its program costs ", ToCycles((*found)->cost),
                           " cycles, the search finds one of ", ToCycles(result.cost)));
    else if (PrintSchedule(result.impl) != PrintSchedule(recaller_->Program(root, **found)))
      NoteEntry(entry, "the search finds another program of the same cost");
  }

  // Searches for a program below the bound: there must be none.
  void ProveAgain(const Proof& proof) {
    ++searched_;
    HashMemo memo;
    const SearchResult result =
        SearchWithin(proof.question.spec, proof.question.available, *model_, memo, {.cutoff = proof.bound});
    if (result.stop != StopReason::kCutoff)
      NoteEntry(proof.question, Cat("the search finds a program of ", ToCycles(result.cost),
                                    " cycles, less than its bound, ", ToCycles(proof.bound)));
  }

  Table& table_;
  const CostModel* const model_;
  std::optional<Recaller> recaller_;
  std::vector<std::string> findings_;
  std::vector<Spec> roots_;
  std::vector<Proof> proofs_;
  int64_t entries_ = 0, pages_ = 0, plans_ = 0, tuned_ = 0, bounds_ = 0;
  int searched_ = 0;
};

// Prints the first findings, and one line on the whole:
//   whole: 2 entries on 2 pages, 0 plans, 0 bounds, 0 tunings, 1 searched for again
void Report(const Checker& checker, bool recalled) {
  constexpr size_t kMostShown = 20;
  const std::vector<std::string>& findings = checker.findings();
  for (size_t i = 0; i < std::min(kMostShown, findings.size()); ++i) std::printf("%s\n", findings[i].c_str());
  if (findings.size() > kMostShown)
    std::printf("... and %s more\n", Cat(findings.size() - kMostShown).c_str());
  std::printf("%s: %s entries on %s pages, %s plans, %s bounds, %s tunings",
              findings.empty() ? "whole" : "damaged", Cat(checker.entries()).c_str(),
              Cat(checker.pages()).c_str(), Cat(checker.plans()).c_str(), Cat(checker.bounds()).c_str(),
              Cat(checker.tuned()).c_str());
  if (recalled)
    std::printf(", %d searched for again\n", checker.searched());
  else
    std::printf("; their programs could not be checked: the table is for another version of Kirsch\n");
}

// The command. Exit code 1: there is damage.
absl::StatusOr<int> Check(const CheckArguments& arguments, const DbOptions& db) {
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<TableFile> file, OpenChoice(arguments.table, db));
  Table table(std::move(file));
  const IdentityMatch match = MatchIdentity(table.file()->identity());
  const CostModel model(match.target);
  // Without the same rules and costs, programs can't be made from the entries.
  Checker checker(table, match.all() ? &model : nullptr);
  checker.CheckAll();
  if (match.all()) checker.SearchAgain(arguments.search);
  Report(checker, match.all());
  return checker.findings().empty() ? 0 : 1;
}

}  // namespace

void AddDbCheck(const Command& db_command, const DbOptions& db, Run& run) {
  const Command command = db_command.AddCommand("check", "Look for damage (exit code 1: there is)");
  auto arguments = std::make_shared<CheckArguments>();
  AddTableChoice(command, arguments->table);
  command.BeginGroup(kCheckGroup);
  command.Add("--search", arguments->search, "Search for this many of the answers again, and compare")
      .InRange(0, 1'000'000'000);
  command.OnChosen([&run, &db, arguments] { run = [arguments, &db] { return Check(*arguments, db); }; });
}

}  // namespace kirsch
