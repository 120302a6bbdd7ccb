#!/usr/bin/env python3
"""Writes device_parse_table.inc and device_merge_table.inc from tests/data/spec, for the tests that the compiler runs."""
import json
import pathlib

here = pathlib.Path(__file__).parent
data = here.parent / "data" / "spec"


def rows(name):
    lines = (data / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def text(cell):
    return json.dumps("" if cell == "<empty>" else cell)  # a JSON string of ASCII is a C++ one


def fields(canonical):
    """'/job:ps/device:GPU:*' -> '"ps", -1, -1, "GPU", -1'"""
    field = dict(job="", replica=-1, task=-1, device="")
    for segment in filter(None, text(canonical)[1:-1].split("/")):
        key, value = segment.split(":", 1)
        field[key] = value
    kind, _, index = field["device"].partition(":")
    index = index if index not in ("", "*") else -1
    return f'"{field["job"]}", {field["replica"]}, {field["task"]}, "{kind}", {index}'


def parse_line(row):
    return f"REFUSED({text(row[0])})" if row[1] == "ERROR" else f"READS({text(row[0])}, {fields(row[1])})"


def merge_line(row):
    return f"MERGES({', '.join(text(cell) for cell in [row[1], *row[0].split(' ; ')])})"


def only_strings(row):
    scopes = row[0].split(" ; ")
    plain = all(s == "<empty>" or not s.startswith(("<", "None", "spec:", "fn=>", "merge:")) for s in scopes)
    return plain and row[1] not in ("ERROR", "n/a")


def write(name, lines):
    (here / name).write_text("\n".join(["// Written by make_tables.py."] + lines) + "\n")


write("device_parse_table.inc", [parse_line(row) for row in rows("device_parse.tsv")])
write("device_merge_table.inc", [merge_line(row) for row in rows("device_merge.tsv") if only_strings(row)])
