"""The script that brings the files of a tutorial: run with apt on a tiny archive of its own."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nodegraft.lab.datasets.debian import Debian, read_descriptions, read_packages
from nodegraft.lab.datasets.templates.readers import read_stanzas

SCRIPT = Path(__file__).parents[1] / "examples/debian_index.sh"
PACKAGES = """\
Package: git
Version: 1:2.39.2
Architecture: amd64
Maintainer: Somebody <somebody@example.org>
Depends: libc6 (>= 2.34), perl
Description: fast, scalable, distributed revision control system
Description-md5: 0123456789abcdef0123456789abcdef
Section: vcs
Filename: pool/main/g/git/git_2.39.2_amd64.deb
Size: 1
SHA256: 00

Package: perl
Version: 5.36.0
Architecture: amd64
Description: Larry Wall's Practical Extraction and Report Language
Description-md5: 4567456745674567456745674567abcd
Section: perl
Filename: pool/main/p/perl/perl_5.36.0_amd64.deb
Size: 1
SHA256: 00
"""
TRANSLATION = """\
Package: git
Description-md5: 0123456789abcdef0123456789abcdef
Description-en: fast, scalable, distributed revision control system
 Git is popular version control system designed to handle very large
 projects with speed and efficiency.
"""

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("apt-get", "xz"))), reason="needs apt and xz: run it on Debian"
)


def archive(folder: Path, codename: str) -> dict[str, str]:
    """Write a tiny archive in the published format; return an environment whose apt uses it."""
    top = folder / "archive/dists" / codename
    files = {"main/binary-amd64/Packages": PACKAGES, "main/i18n/Translation-en": TRANSLATION}
    sums = []
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True)
        (top / name).write_text(text)
        sums.append(f" {hashlib.sha256(text.encode()).hexdigest()} {len(text)} {name}")
    fields = (
        f"Codename: {codename}\nSuite: stable\nDate: Sat, 11 Jul 2026 09:00:00 UTC\n"
        "Components: main\nArchitectures: amd64\n"
    )
    (top / "Release").write_text("\n".join([f"{fields}SHA256:", *sums, ""]))
    sources = folder / "sources.list"
    sources.write_text(f"deb [trusted=yes arch=amd64] file:{folder}/archive {codename} main\n")
    (folder / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{sources}"; Dir::Etc::sourceparts "/dev/null";\n'
        'APT::Architecture "amd64"; Acquire::Languages "none";\n'
    )
    return {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}


def run(folder: Path, codename: str) -> "subprocess.CompletedProcess[str]":
    """Run the script in a folder."""
    environment = archive(folder, codename)
    command = ["sh", str(SCRIPT), "data"]
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_index_of_a_mirror_becomes_the_files_of_the_tutorial(tmp_path: Path) -> None:
    done = run(tmp_path, "bookworm")
    assert done.returncode == 0, done.stderr
    files = Debian().locate(tmp_path / "data")
    stanzas = list(read_stanzas(files["Packages.xz"]))
    git, perl = read_packages(stanzas, read_descriptions(files["Translation-en.xz"]))
    assert (git.key, git.label, git.links["depends"]) == ("git", "vcs", {"perl"})
    # The long description of the translation, or the short one of the index.
    assert "very large" in git.text
    assert perl.text == "Larry Wall's Practical Extraction and Report Language"


def test_another_release_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "trixie")
    assert done.returncode == 1
    assert "no Packages of Debian 12" in done.stderr
