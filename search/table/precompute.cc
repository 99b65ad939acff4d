// SPDX-License-Identifier: Apache-2.0
#include "search/table/precompute.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "memo/hash_memo.h"
#include "memo/varint.h"
#include "search/solver/limits.h"
#include "search/table/recall.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

using Clock = std::chrono::steady_clock;

// How long a round should take: see NextCount.
constexpr double kRoundSeconds = 4;
constexpr int64_t kMemoBytes = int64_t{1} << 30;  // a memo that has grown beyond is begun anew

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Estimates how long a search takes, in some unit. It grows like this with the arithmetic (64^3 to 2048^3,
// measured).
double WorkOf(const Spec& root) { return std::pow(Flops(root), 0.7); }

// What one rank found in a round.
struct Share {
  int64_t solved = 0;
  std::vector<TableEntry> entries;
};

// Shares travel between processes as bytes: the number of roots solved, then the entries, compressed like
// pages.
absl::StatusOr<std::string> Encode(const Share& share) {
  KIRSCH_ASSIGN_OR_RETURN(std::string entries, EncodeEntries(share.entries));
  std::string bytes;
  AppendVarint(static_cast<uint64_t>(share.solved), &bytes);
  return bytes + entries;
}

absl::StatusOr<Share> DecodeShare(std::string_view bytes) {
  VarintReader reader(bytes);
  Share share;
  share.solved = static_cast<int64_t>(reader.Next());
  KIRSCH_ASSIGN_OR_RETURN(share.entries, DecodeEntries(bytes.substr(bytes.size() - reader.remaining())));
  return share;
}

// Numbers of roots, and of how many come next, travel as variable-length integers.
std::string EncodeNumbers(const std::vector<size_t>& numbers) {
  std::string bytes;
  for (size_t number : numbers) AppendVarint(number, &bytes);
  return bytes;
}

std::vector<size_t> DecodeNumbers(std::string_view bytes) {
  std::vector<size_t> numbers;
  for (VarintReader reader(bytes); reader.remaining() > 0;) numbers.push_back(reader.Next());
  return numbers;
}

// One rank's part in a precomputation.
class Precomputer {
 public:
  Precomputer(const std::vector<Spec>& roots, const CostModel& model, Table& table, ProcessGroup& processes,
              const PrecomputeOptions& options)
      : roots_(roots), model_(model), table_(table), processes_(processes), options_(options) {}

  absl::StatusOr<PrecomputeProgress> Run() {
    absl::StatusOr<std::vector<size_t>> unknown = processes_.rank() == 0 ? Unknown() : std::vector<size_t>();
    // Rank 0 alone can fail before the rounds. It then sends an empty list, so the others have nothing to do
    // and do not wait for it.
    const std::vector<size_t> todo =
        DecodeNumbers(processes_.Broadcast(unknown.ok() ? EncodeNumbers(*unknown) : ""));
    if (!unknown.ok()) return unknown.status();
    // All ranks go through the same rounds. Rank 0 says how many roots the next one has; 0 ends the work for
    // all.
    for (size_t done = 0, count = FirstCount(); done < todo.size() && count > 0;) {
      const size_t end = std::min(todo.size(), done + count);
      const Clock::time_point start = Clock::now();
      absl::Status status = Round(todo, done, end);
      done = end;
      const size_t next = status.ok() && !cancelled() ? NextCount(count, SecondsSince(start)) : 0;
      count = DecodeNumbers(processes_.Broadcast(EncodeNumbers({next})))[0];
      if (!status.ok()) return status;
      // The memo only saves time. Programs that it forgets are searched again if they come up in larger
      // roots.
      if (memo_.counts().bytes > kMemoBytes) memo_.Clear();
    }
    return progress_;
  }

 private:
  bool cancelled() const {
    return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
  }

  // Roots whose programs the table lacks, in the order in which they are to be solved.
  absl::StatusOr<std::vector<size_t>> Unknown() {
    Recaller recaller(model_, table_);
    std::vector<size_t> unknown;
    for (size_t i = 0; i < roots_.size(); ++i) {
      total_work_ += WorkOf(roots_[i]);
      KIRSCH_ASSIGN_OR_RETURN(auto recalled,
                              recaller.Find(roots_[i], AvailableAtPlacement(roots_[i], model_.target())));
      if (!recalled)
        unknown.push_back(i);
      else
        done_work_ += WorkOf(roots_[i]);
    }
    std::ranges::stable_sort(unknown,
                             [this](size_t a, size_t b) { return Flops(roots_[a]) < Flops(roots_[b]); });
    progress_.roots = static_cast<int64_t>(roots_.size());
    progress_.known = progress_.roots - static_cast<int64_t>(unknown.size());
    return unknown;
  }

  // The first round is small, as nothing is known of how long a root takes.
  size_t FirstCount() const { return static_cast<size_t>(16 * options_.workers * processes_.size()); }

  // Rounds take about kRoundSeconds: long enough that waiting for each other and writing don't matter. One
  // round's time is a poor guess of the next, so the count changes by a factor of 4 at most. Each thread gets
  // at least one root.
  size_t NextCount(size_t count, double seconds) const {
    const double factor = std::clamp(kRoundSeconds / std::max(seconds, 1e-3), 0.25, 4.0);
    const auto least = static_cast<size_t>(options_.workers * processes_.size());
    return std::max(least, static_cast<size_t>(static_cast<double>(count) * factor));
  }

  // Solves todo[begin, end), all processes together, and puts the entries they found into the table. Each
  // rank takes every size()-th root, so small and large ones are spread evenly.
  absl::Status Round(const std::vector<size_t>& todo, size_t begin, size_t end) {
    std::vector<size_t> mine;  // the largest first, so that all end at about the same time
    for (size_t i = end; i-- > begin;)
      if (i % static_cast<size_t>(processes_.size()) == static_cast<size_t>(processes_.rank()))
        mine.push_back(todo[i]);
    // Every rank must take part in Gather, even if its own share failed. Then the others don't wait forever.
    const absl::StatusOr<std::string> share = Encode(Solve(mine));
    const std::vector<std::string> shares = processes_.Gather(share.ok() ? *share : "");
    if (!share.ok()) return share.status();
    if (processes_.rank() != 0) return absl::OkStatus();
    int64_t solved = 0;
    for (const std::string& bytes : shares) KIRSCH_RETURN_IF_ERROR(Take(bytes, &solved));
    KIRSCH_RETURN_IF_ERROR(table_.Commit());
    Report(todo, begin, end, solved);
    if (solved < static_cast<int64_t>(end - begin) && !cancelled())
      return absl::CancelledError("a process was cancelled before it had solved its share");
    return absl::OkStatus();
  }

  // This rank's threads take one root after the other from a common counter. They share the memo, which is
  // thread-safe.
  Share Solve(const std::vector<size_t>& mine) {
    Share share;
    std::mutex mutex;
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i = next++; i < mine.size() && !cancelled(); i = next++) {
        std::optional<std::vector<TableEntry>> entries = Solve(roots_[mine[i]]);
        if (!entries) return;
        const std::lock_guard lock(mutex);
        ++share.solved;
        share.entries.insert(share.entries.end(), entries->begin(), entries->end());
      }
    };
    std::vector<std::jthread> helpers;
    for (int i = 1; i < options_.workers; ++i) helpers.emplace_back(work);
    work();
    helpers.clear();  // waits for them
    return share;
  }

  // The entries of one root; nothing if cancelled.
  std::optional<std::vector<TableEntry>> Solve(const Spec& root) {
    SearchOptions options;
    options.cancel = options_.cancel;
    if (Search(root, model_, memo_, options).stop != StopReason::kOptimal) return std::nullopt;
    return ProgramEntries(root, AvailableAtPlacement(root, model_.target()), model_, memo_);
  }

  // Adds one rank's share to the table. Entries that the table knew already don't count as new.
  absl::Status Take(std::string_view bytes, int64_t* solved) {
    KIRSCH_ASSIGN_OR_RETURN(Share share, DecodeShare(bytes));
    *solved += share.solved;
    for (const TableEntry& entry : share.entries) {
      KIRSCH_ASSIGN_OR_RETURN(bool added, table_.Add(entry));
      progress_.entries += added ? 1 : 0;
    }
    return absl::OkStatus();
  }

  void Report(const std::vector<size_t>& todo, size_t begin, size_t end, int64_t solved) {
    progress_.solved += solved;
    for (size_t i = begin; i < end; ++i) done_work_ += WorkOf(roots_[todo[i]]);
    progress_.seconds = SecondsSince(start_);
    progress_.share_done = done_work_ / total_work_;
    if (options_.progress) options_.progress(progress_);
  }

  const std::vector<Spec>& roots_;
  const CostModel& model_;
  Table& table_;
  ProcessGroup& processes_;
  const PrecomputeOptions& options_;
  HashMemo memo_;  // of this rank, shared by its threads
  const Clock::time_point start_ = Clock::now();
  PrecomputeProgress progress_;
  double total_work_ = 0, done_work_ = 0;
};

}  // namespace

absl::StatusOr<PrecomputeProgress> Precompute(const std::vector<Spec>& placed_roots, const CostModel& model,
                                              Table& table, ProcessGroup& processes,
                                              const PrecomputeOptions& options) {
  return Precomputer(placed_roots, model, table, processes, options).Run();
}

}  // namespace kirsch
