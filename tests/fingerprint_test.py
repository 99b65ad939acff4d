# SPDX-License-Identifier: Apache-2.0
"""Does the fingerprint of a table change with the code, and only with that?

fingerprint_test.py SOURCE_DIRECTORY CMAKE. A comment or a line break leaves it as it is, or users would lose their tables
for nothing; a number, a name, a word of a string changes it.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDERS = ("spec", "rewrites", "cost", "memo", "search")
EDITED = "cost/cost_model.cc"


def fingerprints(source, cmake):
    with tempfile.TemporaryDirectory() as output:
        subprocess.run([cmake, "-D", f"SOURCE_DIR={source}", "-D", f"OUTPUT_DIR={output}", "-P",
                        source / "search/table/fingerprints.cmake"], check=True)
        return (pathlib.Path(output) / "fingerprints.h").read_text()


def strings_with_comments(source):
    """Strings that would be cut off, as if two slashes in them began a comment."""
    string = re.compile(r'"(?:[^"\\\n]|\\.)*"')
    for folder in FOLDERS:
        for path in (p for p in (source / folder).rglob("*") if p.suffix in (".h", ".cc")):
            for line in path.read_text().splitlines():
                if any("//" in text for text in string.findall(re.sub(r"^\s*//.*", "", line))):
                    yield f"{path}: {line.strip()}"


def main(source, cmake):
    assert not list(strings_with_comments(source)), list(strings_with_comments(source))
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in FOLDERS:
            shutil.copytree(source / name, copy / name)
        text, before = (copy / EDITED).read_text(), fingerprints(copy, cmake)
        edits = {
            "a comment": (text.replace("// ", "// As ever: ", 1) + "// The end.\n", True),
            "a line break": (re.sub(r"^([^/\n]*,) (.*)$", r"\1\n        \2", text, flags=re.MULTILINE), True),
            "a number": (re.sub(r"= (\d+);", r"= \g<1>1;", text, count=1), False),
            "a blank in a string": (text.replace('include "', 'include " ', 1), False),
            "a name": (text.replace("double ", "double the_", 1), False),
        }
        for what, (edited, same) in edits.items():
            assert edited != text, f"{EDITED} has no such place: {what}"
            (copy / EDITED).write_text(edited)
            assert (fingerprints(copy, cmake) == before) == same, what


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
