#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What members of a family lose by sharing programs, measured.

    bench/results/family_loss.py KIRSCH 'matmul f32 1..512x2048x2048' [--target T] [--members 24] [--compiler gcc]
    bench/results/family_loss.py KIRSCH decode.kirsch ...

Makes the family's header and one for each of so many members, spread over the family evenly in their logarithms,
compiles both with the compiler at -O2, and times them in turns on the same memory: the least of many rounds each.
Prints a line for each member, then the median and the worst loss. For families of matmuls one of whose sizes varies,
without operands of an epilogue, column blocks or constants; and of a file with one kernel of the language, one of whose
sizes varies: 'kernel decode[t = 1..1024](...'.
"""

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "family.h"
#include "own.h"

static double Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
  const size_t bytes = (64 + 4 * (size_t)MOST) / 64 * 64;
  char* p[PARAMETERS];
  for (int i = 0; i < PARAMETERS; ++i) memset(p[i] = aligned_alloc(64, bytes), 0, bytes);
  char *s = aligned_alloc(4096, (FAMILY_SCRATCH() + OWN_SCRATCH() + 4095) / 4096 * 4096 + 4096);
  double least[2] = {1e9, 1e9};
  for (int round = 0; round < ROUNDS; ++round)
    for (int turn = 0; turn < 2; ++turn) {
      const int which = (turn + round) % 2;
      const double start = Now();
      if (which == 0) FAMILY_CALL; else OWN_CALL;
      const double seconds = Now() - start;
      if (round > 0 && seconds < least[which]) least[which] = seconds;
    }
  printf("%.9f %.9f\\n", least[0], least[1]);
  return 0;
}
"""


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr.strip()[-600:]}")
    return result.stdout


def members_of(low, high, count):
    """Sizes from low to high, evenly spread in their logarithms, each once."""
    if high - low + 1 <= count:
        return list(range(low, high + 1))
    sizes = {low, high}
    steps = count
    while len(sizes) < count:
        sizes = {round(low * math.exp(math.log(high / low) * i / (steps - 1))) for i in range(steps)}
        steps += 1
    return sorted(sizes)[: count - 1] + [high]


def entry(header):
    """Name and parameters of the header's function, as its comment has them."""
    return re.search(r"^// (?:int|void) (\w+)\((.*)\);$", header, re.M).groups()


def call(header, size):
    """The function with that size, on p[0], p[1], ...; and the bytes of scratch memory that it takes."""
    name, parameters = entry(header)
    arguments, pointers = [], 0
    for parameter in parameters.split(","):
        if "*" not in parameter:
            arguments.append(str(size))
        elif "scratch" in parameter:
            arguments.append("s")
        else:
            arguments.append(f"(void*)p[{pointers}]")
            pointers += 1
    has_scratch = f"{name}_scratch_bytes" in header
    return f"{name}({', '.join(arguments)})", f"{name}_scratch_bytes()" if has_scratch else "0"


def measure(directory, arguments, size, rounds, most):
    texts = [open(os.path.join(directory, f"{name}.h"), encoding="utf8").read() for name in ("family", "own")]
    (family, family_scratch), (own, own_scratch) = call(texts[0], size), call(texts[1], size)
    text = PROGRAM.replace("FAMILY_CALL", family).replace("OWN_CALL", own)
    text = text.replace("FAMILY_SCRATCH()", family_scratch).replace("OWN_SCRATCH()", own_scratch)
    pointers = entry(texts[0])[1].count("*")
    text = text.replace("MOST", str(most)).replace("ROUNDS", str(rounds)).replace("PARAMETERS", str(pointers))
    source, program = os.path.join(directory, "time.c"), os.path.join(directory, "time")
    with open(source, "w", encoding="utf8") as file:
        file.write(text)
    run([arguments.compiler, "-O2", "-w", source, "-o", program])
    results = [[float(word) for word in run(["taskset", "-c", arguments.cpu, program]).split()] for _ in range(3)]
    return [min(column) for column in zip(*results)]


class Matmuls:
    """A shorthand one of whose sizes is a range."""

    def __init__(self, spec):
        found = re.fullmatch(r"(matmul \S+ [\dx]*?)(\d+)\.\.(\d+)((?:x\d+)*)( .*)?", spec)
        if found is None:
            sys.exit("SPEC: expected a matmul one of whose sizes is a range, or a file with such a kernel")
        self.before, self.low, self.high, self.after = found[1], int(found[2]), int(found[3]), found[4]
        self.rest = found[5] or ""
        words = (self.before.split()[2:] + [""])[0].split("x") + self.after.split("x")
        self.fixed = [int(word) for word in words if word]
        self.most = max(self.high, *self.fixed) ** 2
        self.all = [spec]

    def member(self, _, size):
        return [f"{self.before}{size}{self.after}{self.rest}"]

    def rounds(self, size):
        return max(12, min(2000, int(4e10 / (2 * size * math.prod(self.fixed)))))


class Kernels:
    """A file with a kernel one of whose sizes is a range."""

    def __init__(self, path):
        with open(path, encoding="utf8") as file:
            found = re.fullmatch(r"\s*kernel (\w+)\[(\w+) = (\d+)\.\.(\d+)\](.*)", file.read(), re.S)
        if found is None:
            sys.exit(f"{path}: expected 'kernel NAME[SIZE = LOW..HIGH](', and nothing before it")
        self.name, self.size, self.low, self.high, self.rest = found[1], found[2], int(found[3]), int(found[4]), found[5]
        self.most = 1 << 22
        self.all = ["-f", path]

    def member(self, directory, size):
        path = os.path.join(directory, "own.kirsch")
        with open(path, "w", encoding="utf8") as file:
            file.write(f"kernel own_{self.name}" + re.sub(rf"\b{self.size}\b", str(size), self.rest))
        return ["-f", path]

    def rounds(self, _):
        return 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kirsch")
    parser.add_argument("spec")
    parser.add_argument("--target", default="host")
    parser.add_argument("--members", type=int, default=24)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--cpu", default="1")
    parser.add_argument("--db", default="")
    arguments = parser.parse_args()
    family = Kernels(arguments.spec) if os.path.isfile(arguments.spec) else Matmuls(arguments.spec)
    with tempfile.TemporaryDirectory() as directory:
        synth = [os.path.abspath(arguments.kirsch), "synth", "--target", arguments.target, "--no-verify"]
        synth += ["--db", arguments.db or os.path.join(directory, "table")]
        header = os.path.join(directory, "family.h")
        run(synth + family.all + ["-o", header])
        losses = []
        print(f"{'size':>6} {'shared, us':>12} {'own, us':>12} {'loss, %':>8}")
        for size in members_of(family.low, family.high, arguments.members):
            run(synth + family.member(directory, size) + ["-o", os.path.join(directory, "own.h")])
            shared, own = measure(directory, arguments, size, family.rounds(size), family.most)
            losses.append((shared / own - 1, size))
            print(f"{size:6} {1e6 * shared:12.2f} {1e6 * own:12.2f} {100 * losses[-1][0]:8.2f}", flush=True)
    worst, where = max(losses)
    median = statistics.median(loss for loss, _ in losses)
    print(f"{len(losses)} members: median loss {100 * median:.2f} %, worst {100 * worst:.2f} % (size {where})")


if __name__ == "__main__":
    main()
