# SPDX-License-Identifier: Apache-2.0
"""Is every type of ours called something of its own? check_names.py SOURCE_DIRECTORY.

All libraries share one namespace, so two types of one name would be one to the linker, which keeps the functions of either. Prints a
line for each name that two headers define; exit code 1 if any.
"""
import collections
import pathlib
import re
import sys

TYPE = re.compile(r"^(?:struct|class|enum class|union) (\w+)(?: final)?(?: : [^;]*)? \{", re.MULTILINE)
NOT_OURS = ("build", ".git", "examples", "tests")


def main(root):
    places = collections.defaultdict(set)
    for path in sorted(root.rglob("*.h")):
        if path.relative_to(root).parts[0] not in NOT_OURS:
            for name in TYPE.findall(path.read_text()):
                places[name].add(str(path.relative_to(root)))
    assert len(places) > 300, "that is hardly all"
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    for name, paths in sorted(twice.items()):
        print(f"{name}: {', '.join(sorted(paths))}")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
