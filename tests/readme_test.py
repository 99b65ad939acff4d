"""Does what README.md says to do with a header: makes it, compiles the example program, runs it.

Usage: readme_test.py README KIRSCH_BINARY"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main(readme, kirsch):
    program = re.search(r"```c\n(.*?)```", pathlib.Path(readme).read_text(), re.DOTALL).group(1)
    spec, header = re.search(r"// kirsch synth '([^']*)' -o (\S+)", program).groups()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "example.c").write_text(program)
        for command in [[kirsch, "synth", spec, "-o", header],
                        ["cc", "-Wall", "-Wextra", "-Werror", "-O2", "example.c", "-o", "example"],
                        ["./example"]]:
            subprocess.run(command, cwd=folder, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
