// SPDX-License-Identifier: Apache-2.0
// Measures how fast the table is: its pages, its file, and programs recalled from it, on the contents that
// family.h makes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "bench/micro/family.h"
#include "memo/table.h"
#include "search/solver/limits.h"
#include "search/solver/search.h"
#include "search/table/answer.h"
#include "search/table/recall.h"
#include "spec/check.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Points = std::vector<PagePoint>;

// A table on disk, and what it is asked.
struct Stored {
  std::map<PageKey, Points> family;
  PageKey largest;  // the page with the most boxes
  Points points;    // those of the page with the most points
  std::vector<Question> questions;
  std::string path;
  TableIdentity identity;
};

// Writes the family to a file in the directory for temporary files, and draws one of eight points as
// questions.
Stored Store(std::map<PageKey, Points> family, const Target& target) {
  Stored stored{std::move(family), {}, {}, {}, {}, IdentityOf(target)};
  stored.path =
      std::filesystem::temp_directory_path() / Cat("kirsch_table_benchmark_", std::random_device()());
  const auto file = TableFile::Open(stored.path, stored.identity);
  KIRSCH_CHECK(file.ok() && (*file)->Add(stored.family).ok());
  std::mt19937 random(1);
  // The page with the most points and the one with the most boxes need not be the same.
  size_t most_boxes = 0;
  for (const auto& [key, points] : stored.family) {
    if (points.size() > stored.points.size()) stored.points = points;
    const size_t boxes = Page::Of(points)->boxes().size();
    if (boxes > most_boxes) stored.largest = key;
    most_boxes = std::max(most_boxes, boxes);
    for (const PagePoint& point : points)
      if (random() % 8 == 0) stored.questions.push_back(*QuestionAt({key.plane, point.point}));
  }
  // In any order, so that questions jump from page to page.
  std::shuffle(stored.questions.begin(), stored.questions.end(), random);
  return stored;
}

// Each benchmark opens the file itself, so that none profits from another.
std::unique_ptr<TableFile> Open(const Stored& stored) {
  auto file = TableFile::Open(stored.path, stored.identity);
  KIRSCH_CHECK(file.ok());
  return *std::move(file);
}

// Makes the page with the most points: an update of it has to merge as many.
void BM_PageOf(benchmark::State& state, const Stored& stored) {
  for (auto _ : state) benchmark::DoNotOptimize(Page::Of(stored.points));
  state.counters["points"] = static_cast<double>(stored.points.size());
}

// Looks up stored points in the page with the most boxes.
void BM_PageFind(benchmark::State& state, const Stored& stored) {
  const Points& points = stored.family.at(stored.largest);
  const Page page = *Page::Of(points);
  std::mt19937 random(2);
  for (auto _ : state) benchmark::DoNotOptimize(page.Find(points[random() % points.size()].point));
  state.counters["boxes"] = static_cast<double>(page.boxes().size());
}

// Reads and decompresses the page with the most boxes from the file.
void BM_ReadPage(benchmark::State& state, const Stored& stored) {
  const auto file = Open(stored);
  for (auto _ : state) benchmark::DoNotOptimize(file->ReadPage(stored.largest));
}

// Goes from a spec to its decision, with the page in memory. All questions are asked once before, which reads
// the pages.
void BM_FindWarm(benchmark::State& state, const Stored& stored) {
  Table table(Open(stored));
  const auto ask = [&](const Question& question) { return table.Find(question.spec, question.available); };
  for (const Question& question : stored.questions) KIRSCH_CHECK((*ask(question)).has_value());
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ask(stored.questions[i++ % stored.questions.size()]));
}

// Opens the file and asks one question. The operating system has the file in memory.
void BM_FindCold(benchmark::State& state, const Stored& stored) {
  size_t i = 0;
  for (auto _ : state) {
    Table table(Open(stored));
    const Question& question = stored.questions[i++ % stored.questions.size()];
    benchmark::DoNotOptimize(table.Find(question.spec, question.available));
  }
}

// Recalls the whole program of the largest cube. `warm`: the table is open already.
void BM_Recall(benchmark::State& state, const Stored& stored, const CostModel& model, bool warm) {
  const uint32_t side = FamilyBound();
  const auto parsed = ParseSpec(Cat("matmul f32 ", side, "x", side, "x", side));
  KIRSCH_CHECK(parsed.ok());
  const Spec root = PlaceOperands(parsed->spec, Residency::kWarm, model.target());
  const Lines available = AvailableAtPlacement(root, model.target());
  // The table that stays open when `warm`.
  auto table = std::make_unique<Table>(Open(stored));
  for (auto _ : state) {
    if (!warm) table = std::make_unique<Table>(Open(stored));
    const auto program = Recall(root, available, model, *table);
    KIRSCH_CHECK(program.ok() && program->has_value());
  }
}

void Register(const Stored& stored, const CostModel& model) {
  const auto add = [](const char* name, auto run) { benchmark::RegisterBenchmark(name, run); };
  add("PageOf", [&](benchmark::State& state) { BM_PageOf(state, stored); });
  add("PageFind", [&](benchmark::State& state) { BM_PageFind(state, stored); });
  add("ReadPage", [&](benchmark::State& state) { BM_ReadPage(state, stored); });
  add("FindWarm", [&](benchmark::State& state) { BM_FindWarm(state, stored); });
  add("FindCold", [&](benchmark::State& state) { BM_FindCold(state, stored); });
  add("RecallWarm", [&](benchmark::State& state) { BM_Recall(state, stored, model, true); });
  add("RecallCold", [&](benchmark::State& state) { BM_Recall(state, stored, model, false); });
}

}  // namespace
}  // namespace kirsch

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const absl::StatusOr<kirsch::TargetFile> file = kirsch::FindTarget("znver4", "");
  KIRSCH_CHECK(file.ok());
  const kirsch::CostModel model(file->target);
  const kirsch::Stored stored =
      kirsch::Store(kirsch::SolveFamily(kirsch::FamilyBound(), model), model.target());
  kirsch::Register(stored, model);
  benchmark::AddCustomContext("file bytes", kirsch::Cat(std::filesystem::file_size(stored.path)));
  benchmark::RunSpecifiedBenchmarks();
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(stored.path + suffix);
}
