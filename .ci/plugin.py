"""Installs examples/plugin as a stranger would, and runs its tests: contract and leaks.

Run by the Python of an environment in which nodegraft is installed as a wheel, nothing else.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PLUGIN = Path(__file__).parents[1] / "examples" / "plugin"

TESTS = """
import test_text_mean
for name, test in vars(test_text_mean).items():
    if name.startswith("test_"):
        test()
        print("ok ", name)
"""


def main() -> None:
    """Install the package, run its tests and uninstall it."""
    with TemporaryDirectory() as folder:
        package = shutil.copytree(PLUGIN, Path(folder, "plugin"))  # pip writes beside the sources
        pip = [sys.executable, "-m", "pip"]
        subprocess.run([*pip, "install", "-qq", "--no-deps", package], check=True)
        try:
            subprocess.run([sys.executable, "-c", TESTS], check=True, cwd=package)
        finally:
            subprocess.run([*pip, "uninstall", "-qqy", "text-mean"], check=True)


if __name__ == "__main__":
    main()
