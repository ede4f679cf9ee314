"""Holds the method of CONTRIBUTING.md, installed as a package of its own, against the contract.

Run by the Python of an environment in which nodegraft is installed as a wheel, nothing else.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "text-mean"
version = "1.0"

[project.entry-points."nodegraft.methods"]
text-mean = "text_mean"

[tool.setuptools]
py-modules = ["text_mean"]
"""

CHECKS = """
from nodegraft.evaluation.checks import check_no_leaks
from nodegraft.model.checks import check_method
for name in (*check_method("text-mean"), *check_no_leaks("text-mean")):
    print("ok ", name)
"""


def main() -> None:
    """Install it for a moment, check it, take it away."""
    recipes = re.findall(r"```python\n(.*?)```", Path(sys.argv[1]).read_text(), re.DOTALL)
    (source,) = (recipe for recipe in recipes if "(Method)" in recipe)
    with TemporaryDirectory() as folder:
        Path(folder, "text_mean.py").write_text(source)
        Path(folder, "pyproject.toml").write_text(PROJECT)
        pip = [sys.executable, "-m", "pip"]
        subprocess.run([*pip, "install", "-qq", "--no-deps", folder], check=True)
        try:
            subprocess.run([sys.executable, "-c", CHECKS], check=True, cwd=folder)
        finally:
            subprocess.run([*pip, "uninstall", "-qqy", "text-mean"], check=True)


if __name__ == "__main__":
    main()
