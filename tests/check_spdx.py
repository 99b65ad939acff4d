# SPDX-License-Identifier: Apache-2.0
"""Has each source file its SPDX line? check_spdx.py SOURCE_DIRECTORY [--add]: prints those without, or adds it to them.

The line is the first one, or the second where the first one is for a shell.
"""
import pathlib
import sys

LINE = "SPDX-License-Identifier: Apache-2.0"
COMMENT = {".cc": "//", ".h": "//", ".hpp": "//", ".c": "//", ".py": "#", ".cmake": "#", ".sh": "#", ".in": None}
FOLDERS_OF_OTHERS = ("build", ".git")


def comment_of(path):
    if path.name == "CMakeLists.txt" or path.name.endswith(".cmake.in") or path.parent.name in ("scripts", ".ci"):
        return "#"
    return "//" if path.name.endswith(".cc.in") else COMMENT.get(path.suffix)


def main(root, add):
    sources = [path for path in sorted(root.rglob("*"))
               if path.relative_to(root).parts[0] not in FOLDERS_OF_OTHERS and path.is_file() and comment_of(path)]
    assert len(sources) > 500, "that is hardly all"
    missing = [path for path in sources if LINE not in "\n".join(path.read_text().splitlines()[:3])]
    for path in missing:
        if not add:
            print(f"{path.relative_to(root)}: expected '{comment_of(path)} {LINE}' at its head")
            continue
        lines = path.read_text().split("\n")
        lines.insert(1 if lines[0].startswith("#!") else 0, f"{comment_of(path)} {LINE}")
        path.write_text("\n".join(lines))
    return 1 if missing and not add else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), "--add" in sys.argv))
