// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "codegen/c/c_index.h"
#include "codegen/c/c_pattern.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int64_t kDefinition = 80;   // bytes that a macro takes besides its text
constexpr int64_t kLeastSaving = 20;  // bytes
constexpr size_t kMostSeeds = 6;      // places that are tried for the first of a group
constexpr size_t kMostRefused = 12;   // places that are tried for one group, and would not fit it

// Returns a key that is equal for equal macros. Two groups may become the same macro, which is then defined
// once.
std::string TextOf(const Statements& statements) {
  std::string text;
  for (const Statement& statement : statements) {
    if (statement.macro != kNone) Append(&text, "\3", statement.macro);
    Append(&text, statement.head.Text(), "\n");
    if (statement.is_block) Append(&text, TextOf(statement.body), "}\n");
  }
  return text;
}

// Places that one macro stands for. A call needs that all of their numbers follow from the same parameters.
struct Cluster {
  size_t length = 0;
  std::vector<size_t> places;
  std::optional<Parameters> parameters = {};  // of two places or more
  Macro macro = {};
  int64_t saves = -kDefinition - kCall;  // bytes in all; less than 0 for a single place
};

// Chooses, among the places of one shape, those whose numbers differ by few parameters. More places save more
// text, but each parameter makes all calls longer.
class ClusterSearch {
 public:
  // `known`: macros by their text.
  ClusterSearch(const StatementIndex& index, const std::map<std::string, size_t>& known)
      : index_(index), known_(known) {}

  // Returns the cluster that begins with the first of the places. Another place joins it if its numbers
  // follow from the parameters that there are, or if new parameters are worth it. After some vain attempts at
  // new parameters, only places that follow join.
  Cluster From(const Repeated& group) {
    cluster_ = {group.length, {group.places[0]}};
    basis_ = {HolesAt(group.places[0])};
    size_t refused = 0;
    for (size_t place : group.places) {
      // Places may overlap; of two that do, the first one is taken.
      if (place < cluster_.places.back() + group.length) continue;
      if (!Follows(place) && (refused == kMostRefused || !AddToBasis(place))) ++refused;
      refused = std::min(refused, kMostRefused);
    }
    return std::move(cluster_);
  }

  // Returns the statement that replaces the place.
  Statement CallAt(const Cluster& cluster, size_t place, size_t macro) const {
    return {MacroCall(*cluster.parameters, FindHoles(index_.Group(place, cluster.length))), {}, false, macro};
  }

 private:
  std::vector<Hole> HolesAt(size_t place) const { return FindHoles(index_.Group(place, cluster_.length)); }

  // Takes the place, if its numbers follow from the parameters that there are.
  bool Follows(size_t place) {
    if (!cluster_.parameters || !cluster_.parameters->Hold(HolesAt(place))) return false;
    cluster_.saves += SavesAt(cluster_, place);
    cluster_.places.push_back(place);
    return true;
  }

  // Takes the place if the cluster saves more with it, although more parameters make calls longer. Parameters
  // are found anew from the basis, a few places that tell the parameters of all. A place that doesn't follow
  // then joins the basis, until all follow.
  bool AddToBasis(size_t place) {
    Cluster with{cluster_.length, cluster_.places};
    with.places.push_back(place);
    std::vector<std::vector<Hole>> basis = basis_;
    for (std::optional<size_t> other = place; other;) {
      basis.push_back(HolesAt(*other));
      with.parameters = Parameters(basis);
      other = FirstNotFollowing(with);
    }
    SetMacro(&with);
    if (with.saves <= cluster_.saves) return false;
    cluster_ = std::move(with);
    basis_ = std::move(basis);
    return true;
  }
  std::optional<size_t> FirstNotFollowing(const Cluster& cluster) const {
    for (size_t place : cluster.places)
      if (!cluster.parameters->Hold(HolesAt(place))) return place;
    return std::nullopt;
  }

  // Sets the macro and what the cluster saves. The macro's own text counts, unless another group has made the
  // same one.
  void SetMacro(Cluster* cluster) const {
    const Parameters& parameters = *cluster->parameters;
    if (parameters.size() > kMostParameters) return;
    cluster->macro = {WithValues(index_.Group(cluster->places[0], cluster->length), parameters),
                      parameters.size()};
    cluster->saves = 0;
    for (size_t place : cluster->places) cluster->saves += SavesAt(*cluster, place);
    if (known_.contains(TextOf(cluster->macro.body))) return;
    cluster->saves -= kDefinition + static_cast<int64_t>(3 * parameters.size());
    for (const Statement& statement : cluster->macro.body) cluster->saves -= SizeOf(statement, 0);
  }

  // Bytes of the place's text less those of the call.
  int64_t SavesAt(const Cluster& cluster, size_t place) const {
    return index_.SizeOf(place, cluster.length) - SizeOf(CallAt(cluster, place, 0), 0);
  }

  const StatementIndex& index_;
  const std::map<std::string, size_t>& known_;
  Cluster cluster_;
  std::vector<std::vector<Hole>> basis_;  // places that tell the parameters of all
};

// Replaces groups in texts once. Within a round the texts don't change, so that numbers of statements stay
// valid; calls are put in at the end. Groups that save most come first. No call is within another one.
//
// The saving of a group changes as others take its places, so the queue has bounds first. When an entry comes
// first, its saving is computed and it goes back. It is taken if it comes first again before any other one is
// taken.
class Round {
 public:
  Round(absl::Span<const IndexedText> texts, std::map<std::string, size_t>* known, std::deque<Macro>* macros)
      : index_(texts), clusters_(index_, *known), known_(*known), macros_(*macros) {}

  // Puts calls in place of the groups. True if there were any.
  bool Replace() {
    for (Repeated& group : RepeatedGroups(index_)) Push({std::move(group), 0, {}});
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      Candidate candidate = std::move(candidates_[entry.candidate]);
      // No call was added since the saving was computed, so it is exact.
      if (entry.age == calls_.size())
        Take(std::move(candidate));
      else
        Reconsider(std::move(candidate));
    }
    PutCalls();
    return !calls_.empty();
  }

 private:
  // A group whose places may become calls.
  struct Candidate {
    Repeated group;
    size_t seeds = 0;  // places that were tried for the first of a cluster, in vain
    Cluster cluster;
  };
  // A candidate in the queue.
  struct Entry {
    int64_t saves;  // at most
    size_t candidate;
    size_t age;  // how many calls there were when the saving was computed; kNone: it is only a bound

    friend bool operator<(const Entry& a, const Entry& b) {
      return a.saves != b.saves ? a.saves < b.saves : a.candidate > b.candidate;
    }
  };

  // Bounds the saving from above: every place that overlaps no earlier one is a call without arguments.
  void Push(Candidate candidate) {
    const Repeated& group = candidate.group;
    int64_t count = 0;
    size_t end = 0;
    for (size_t place : group.places) {
      if (place < end) continue;
      ++count;
      end = place + group.length;
    }
    const int64_t saves = count * (index_.SizeOf(group.places[0], group.length) - kCall);
    if (count > 1) Push(std::move(candidate), saves, kNone);
  }
  // Drops candidates that save too little.
  void Push(Candidate candidate, int64_t saves, size_t age) {
    if (saves < kLeastSaving) return;
    queue_.push({saves, candidates_.size(), age});
    candidates_.push_back(std::move(candidate));
  }

  // Computes what the group saves, as others may have taken places of it, and puts it back into the queue.
  void Reconsider(Candidate candidate) {
    KeepFree(&candidate.group);
    if (candidate.group.places.size() < 2) return;
    candidate.cluster = clusters_.From(candidate.group);
    const int64_t saves = candidate.cluster.saves;
    if (saves >= kLeastSaving) return Push(std::move(candidate), saves, calls_.size());
    // Perhaps only the first place fits no other, so the search begins at the next one.
    candidate.group.places.erase(candidate.group.places.begin());
    if (++candidate.seeds < kMostSeeds && candidate.group.places.size() > 1) Push(std::move(candidate));
  }

  // Makes calls of the cluster's places. The places that are left may make another cluster, with parameters
  // of its own.
  void Take(Candidate candidate) {
    Cluster& cluster = candidate.cluster;
    const auto [known, added] = known_.try_emplace(TextOf(cluster.macro.body), macros_.size());
    if (added) macros_.push_back(std::move(cluster.macro));
    for (size_t place : cluster.places)
      calls_[place] = {cluster.length, clusters_.CallAt(cluster, place, known->second)};
    for (size_t place : cluster.places) index_.Take(place, cluster.length);
    KeepFree(&candidate.group);
    if (candidate.group.places.size() > 1) Push({std::move(candidate.group), 0, {}});
  }

  // Drops places that are part of calls.
  void KeepFree(Repeated* group) const {
    std::erase_if(group->places, [&](size_t place) { return !index_.IsFree(place, group->length); });
  }

  // Puts the calls into the texts, from the last place to the first. So numbers of places before it stay
  // valid, and inner blocks are changed before the statements that hold them.
  void PutCalls() {
    for (auto it = calls_.rbegin(); it != calls_.rend(); ++it) {
      const auto& [place, call] = *it;
      const StatementIndex::Block& block = index_.BlockOf(place);
      const auto first = block.statements->begin() + static_cast<std::ptrdiff_t>(place - block.first);
      *first = call.statement;
      block.statements->erase(first + 1, first + static_cast<std::ptrdiff_t>(call.length));
    }
  }

  struct Call {
    size_t length;  // of what it stands for
    Statement statement;
  };

  StatementIndex index_;
  ClusterSearch clusters_;
  std::map<std::string, size_t>& known_;  // macros by their text
  std::deque<Macro>& macros_;
  std::vector<Candidate> candidates_;
  std::priority_queue<Entry> queue_;
  std::map<size_t, Call> calls_;  // by place
};

constexpr char kBlock[] = " {";  // ends the beginning of a block

// Collects the blocks by the shapes of their beginnings.
void CollectBlocks(Statements& statements, std::map<std::string, std::vector<Statement*>>* alike) {
  for (Statement& statement : statements) {
    if (statement.is_block) (*alike)[statement.head.Shape()].push_back(&statement);
    CollectBlocks(statement.body, alike);
  }
}

// Makes a macro of these beginnings, if that makes the text shorter.
void MakeBeginning(const std::vector<Statement*>& blocks, std::deque<Macro>* macros) {
  std::vector<Statement> beginnings;
  std::vector<std::vector<Hole>> holes;
  for (const Statement* block : blocks) {
    beginnings.push_back({block->head});
    holes.push_back(block->head.holes);
  }
  const Parameters parameters(holes);
  Statements body = WithValues({beginnings[0]}, parameters);
  int64_t saves = -kDefinition - static_cast<int64_t>(3 * parameters.size()) - SizeOf(body[0], 0);
  for (size_t i = 0; i < blocks.size(); ++i) {
    Statement call{MacroCall(parameters, holes[i]), {}, false, macros->size()};
    saves += SizeOf(beginnings[i], 0) - SizeOf(call, 0);
    beginnings[i] = std::move(call);
  }
  if (saves < kLeastSaving) return;
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i]->head = std::move(beginnings[i].head);
    blocks[i]->head.text.back() += kBlock;
    blocks[i]->macro = macros->size();
  }
  std::string& end = body[0].head.text.back();
  end.resize(end.size() - std::string_view(kBlock).size());
  macros->push_back({std::move(body), parameters.size()});
}

}  // namespace

Pattern MacroCall(const Parameters& parameters, const std::vector<Hole>& holes) {
  Pattern call;
  for (size_t i = 0; i < parameters.size(); ++i) {
    call.text.back() += i == 0 ? "(" : ",";
    // An argument that is pasted there must be a constant or a parameter here.
    call.holes.push_back({parameters.Argument(i, holes), parameters.IsPasted(i)});
    call.text.emplace_back(i + 1 < parameters.size() ? "" : ")");
  }
  return call;
}

void MakeGroups(const std::vector<Statements*>& texts, std::deque<Macro>* macros) {
  // New macros have repeated groups in turn, so rounds go on until one finds nothing.
  std::map<std::string, size_t> known;
  for (bool found = true; found;) {
    std::vector<IndexedText> all;
    for (Statements* text : texts) all.push_back({text, 1});
    for (Macro& macro : *macros) all.push_back({&macro.body, 0});
    found = Round(all, &known, macros).Replace();
  }
}

void MakeBeginnings(const std::vector<Statements*>& texts, std::deque<Macro>* macros) {
  std::map<std::string, std::vector<Statement*>> alike;
  for (Statements* text : texts) CollectBlocks(*text, &alike);
  for (Macro& macro : *macros) CollectBlocks(macro.body, &alike);
  for (const auto& [shape, blocks] : alike)
    if (blocks.size() > 1 && shape.ends_with(kBlock)) MakeBeginning(blocks, macros);
}

}  // namespace kirsch
