# SPDX-License-Identifier: Apache-2.0
"""Are all sources as clang-format leaves them? check_clang_format.py SOURCE_DIRECTORY; exit code 77 without clang-format-19.

Prints a line for each file that differs: `clang-format-19 -i FILE` mends it.
"""
import pathlib
import shutil
import subprocess
import sys

FORMATTER = "clang-format-19"
FOLDERS_OF_OTHERS = ("build", ".git")


def differs(path):
    text = path.read_bytes()
    return subprocess.run([FORMATTER, f"--assume-filename={path}"], input=text, capture_output=True, check=True).stdout != text


def main(root):
    if shutil.which(FORMATTER) is None:
        print(f"skipped: no {FORMATTER}")
        return 77
    sources = [path for path in sorted(root.rglob("*")) if path.suffix in (".h", ".cc")
               and path.relative_to(root).parts[0] not in FOLDERS_OF_OTHERS]
    assert len(sources) > 500, "that is hardly all"
    wrong = [path for path in sources if differs(path)]
    for path in wrong:
        print(f"{path.relative_to(root)}: not as {FORMATTER} -i leaves it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
