// SPDX-License-Identifier: Apache-2.0
#include "spec/program/program.h"

namespace kirsch {

void ForEachRun(const Body& body, const std::function<void(const KernelRun&)>& visit) {
  for (const Node& node : body) {
    if (const Loop* const loop = std::get_if<Loop>(&node.shape))
      for (const Body* part : {&loop->first, &loop->body, &loop->rest}) ForEachRun(*part, visit);
    if (const Let* const let = std::get_if<Let>(&node.shape)) ForEachRun(let->body, visit);
    if (const OneOf* const one_of = std::get_if<OneOf>(&node.shape))
      for (const Body& body_of_one : one_of->bodies) ForEachRun(body_of_one, visit);
    if (const Task* const task = std::get_if<Task>(&node.shape)) ForEachRun(task->body, visit);
    if (const Phase* const phase = std::get_if<Phase>(&node.shape)) ForEachRun(phase->body, visit);
    if (const KernelRun* const run = std::get_if<KernelRun>(&node.shape)) visit(*run);
  }
}

}  // namespace kirsch
