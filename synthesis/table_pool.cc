// SPDX-License-Identifier: Apache-2.0
#include "synthesis/table_pool.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace kirsch {
namespace {

constexpr size_t kMostIdle = 16;  // tables that stay open

}  // namespace

std::shared_ptr<Table> TablePool::Take(const Target& target) {
  std::unique_ptr<Table> table;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const pid_t own = getpid();
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) {
      return idle.process == own && idle.target == target;
    });
    if (found == idle_.end()) return nullptr;
    table = std::move(found->table);
    idle_.erase(found);
  }
  return Lend(target, std::move(table));
}

std::shared_ptr<Table> TablePool::Lend(const Target& target, std::unique_ptr<Table> table) {
  return {table.release(), [pool = weak_from_this(), target, process = getpid()](Table* lent) {
            std::unique_ptr<Table> table(lent);
            // What an error has left in it is for nobody.
            if (const auto alive = pool.lock(); alive != nullptr && !table->HasAdded())
              alive->Return({target, std::move(table), process});
          }};
}

void TablePool::Return(Idle idle) {
  if (idle.target.extension != nullptr) return;  // nobody asks for it again
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() == kMostIdle) idle_.erase(idle_.begin());
  idle_.push_back(std::move(idle));
}

}  // namespace kirsch
