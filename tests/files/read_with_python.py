"""read_with_python.py WRITE_FILES: what WRITE_FILES writes is read by Python's safetensors and NumPy, and the other way."""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

EXPECTED = {
    "float": numpy.arange(6, dtype="<f4").reshape(2, 3),
    "double": numpy.arange(4, dtype="<f8"),
    "int32": numpy.arange(2, dtype="<i4").reshape(2, 1),
    "int64": numpy.array(0, dtype="<i8"),
    "uint8": numpy.arange(5, dtype="u1"),
    "bool": numpy.array([True, False, True]),
    "none": numpy.zeros((0, 3), dtype="<f4"),
    'n\u00e4me/"x"': numpy.arange(1, dtype="<f4"),
}


def check(found, expected):
    assert found.keys() == expected.keys(), (found.keys(), expected.keys())
    for name, value in expected.items():
        assert found[name].dtype == value.dtype and found[name].shape == value.shape, name
        assert (found[name] == value).all(), name


def main(write_files):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([write_files, folder], check=True)
        check(load_file(folder / "plain.safetensors"), EXPECTED)
        check(load_file(folder / "noted.safetensors"), EXPECTED)
        with safe_open(folder / "noted.safetensors", "numpy") as file:
            assert file.metadata()["format"] == "pt" and file.metadata()["step"] == "7"
        index = json.loads((folder / "model.safetensors.index.json").read_text())
        shards = {shard: load_file(folder / shard) for shard in index["weight_map"].values()}
        check({name: shards[shard][name] for name, shard in index["weight_map"].items()}, EXPECTED)
        assert index["metadata"]["total_size"] == sum(v.nbytes for v in EXPECTED.values())
        assert (numpy.load(folder / "float.npy", allow_pickle=False) == EXPECTED["float"]).all()

        save_file(EXPECTED, folder / "python.safetensors")
        assert (folder / "plain.safetensors").read_bytes() == (folder / "python.safetensors").read_bytes()
        save_file(EXPECTED, folder / "python.safetensors", {"format": "np"})
        numpy.save(folder / "python.npy", numpy.asfortranarray(EXPECTED["float"]))
        subprocess.run([write_files, folder], check=True)


main(sys.argv[1])
