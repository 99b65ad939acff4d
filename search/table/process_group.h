// SPDX-License-Identifier: Apache-2.0
// Lets several processes work on one task together, whether MPI connects them or there is only one. Every
// call is made by all processes, in the same order; otherwise they wait for each other forever.
#ifndef KIRSCH_SEARCH_TABLE_PROCESS_GROUP_H_
#define KIRSCH_SEARCH_TABLE_PROCESS_GROUP_H_

#include <string>
#include <vector>

namespace kirsch {

// The two exchanges that a precomputation needs.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;  // of this process, from 0
  virtual int size() const = 0;

  // Everybody's bytes, by rank, on rank 0; nothing elsewhere.
  virtual std::vector<std::string> Gather(const std::string& bytes) = 0;

  // Rank 0's bytes, on every rank.
  virtual std::string Broadcast(std::string bytes) = 0;
};

// A process on its own.
class OneProcess : public ProcessGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> Gather(const std::string& bytes) override { return {bytes}; }
  std::string Broadcast(std::string bytes) override { return bytes; }
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_PROCESS_GROUP_H_
