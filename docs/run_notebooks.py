"""Runs notebooks and stores their outputs: ``python -m docs.run_notebooks [NAME ...]``

Outputs are what ``docs/notebooks`` shows in the pages. A test runs the same code without them.
"""

import sys
import tempfile
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parent / "notebooks"


def run(path: Path) -> None:
    """Run a notebook in an empty folder, and write it with its outputs.

    Args:
        path: The notebook.
    """
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    for place, cell in enumerate(notebook.cells):
        # Neither times nor random names: the same outputs give the same file.
        cell.metadata = {}
        # Warnings of libraries about the machine that runs the notebook.
        outputs = [one for one in cell.get("outputs", []) if one.get("name") != "stderr"]
        if cell.cell_type == "code":
            cell.outputs = outputs
        for output in outputs:
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = smaller(output.data["image/png"])
        cell["id"] = f"cell-{place}"
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def smaller(picture: str) -> str:
    """Return a PNG with at most 64 colours, a third of the size, which plots look the same in.

    Args:
        picture: The PNG in base64.
    """
    sink = BytesIO()
    image = Image.open(BytesIO(b64decode(picture))).convert("RGB")
    image.quantize(64).save(sink, format="PNG", optimize=True)
    return b64encode(sink.getvalue()).decode()


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb")):
        run(FOLDER / f"{name}.ipynb")
        print(f"{name}: {(FOLDER / f'{name}.ipynb').stat().st_size / 1000:.0f} kB")
