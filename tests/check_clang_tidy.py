# SPDX-License-Identifier: Apache-2.0
"""Does clang-tidy find nothing? check_clang_tidy.py SOURCE_DIRECTORY BUILD_DIRECTORY [TURN TURNS]: of a build by Clang;
of so many turns one, which has every so many-th source. Exit code 77 without clang-tidy-19.

.clang-tidy says what is looked for. Tests and examples are left out.
"""
import json
import multiprocessing.pool
import os
import pathlib
import shutil
import subprocess
import sys

LINTER = "clang-tidy-19"
LEFT_OUT = ("build", "examples", "tests")


def sources_of(root, build):
    commands = json.loads((build / "compile_commands.json").read_text())
    paths = {pathlib.Path(command["file"]) for command in commands}
    return sorted(path for path in paths
                  if path.suffix == ".cc" and path.is_relative_to(root) and path.relative_to(root).parts[0] not in LEFT_OUT)


def findings_in(build, source):
    run = subprocess.run([LINTER, "-quiet", "-p", build, source], capture_output=True, text=True)
    return run.stdout if run.returncode != 0 else ""


def main(root, build, turn=0, turns=1):
    if shutil.which(LINTER) is None:
        print(f"skipped: no {LINTER}")
        return 77
    sources = sources_of(root, build)
    assert len(sources) > 300, "that is hardly all"
    with multiprocessing.pool.ThreadPool(os.cpu_count()) as pool:
        found = pool.map(lambda source: findings_in(build, source), sources[turn::turns])
    print("".join(found), end="")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(path).resolve() for path in sys.argv[1:3]), *map(int, sys.argv[3:5])))
