#!/usr/bin/env python3
"""Holds that shellcheck finds nothing in the shell scripts.

usage: scripts.py ROOT
"""
import pathlib
import subprocess
import sys


def main(root):
    root = pathlib.Path(root)
    scripts = [root / "dev", root / ".ci/run", root / "tests/kernel/init", *sorted(root.glob("tools/*.sh")), *sorted(root.glob("tests/**/*.sh"))]
    try:
        code = subprocess.run(["shellcheck", "--external-sources", "--source-path=SCRIPTDIR", *scripts],
                              check=False).returncode
    except FileNotFoundError:
        print("shellcheck is not installed")
        return 77
    print(f"scripts: {len(scripts)} looked at")
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
