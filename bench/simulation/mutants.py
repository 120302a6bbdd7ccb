#!/usr/bin/env python3
"""Tells which planted bugs the simulation finds.

    bench/simulation/mutants.py --build=build/dev [--only=N,N] [--seeds=8] [--hours=0.2] [--cpu=15] [--at-once=2]
    bench/simulation/mutants.py --check     whether the code of each still stands where it was

All bugs of mutants.txt are compiled into one copy of the program, from the units of the library that have them; the
variable PINION_PLANTED_BUG chooses one. Without it the program must have the history of the library's own simulation.
A bug is found if a run breaks a promise, dies, or does not end. The status is 1 where fewer than 95 % are found.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent

PLANTED = """#pragma once
#include <cstdlib>
namespace pinion_mutants {
inline bool planted(int number) {
  static const char* const text = std::getenv("PINION_PLANTED_BUG");
  static const int chosen = text ? std::atoi(text) : 0;
  return number == chosen;
}
}  // namespace pinion_mutants
"""


def read_mutants():
    mutants = []
    text = "\n".join(l for l in (here / "mutants.txt").read_text().split("\n") if not l.startswith("#"))
    for block in re.split(r"\n\s*\n", text.strip()):
        head, body = block.split("\n", 1)
        kind, file, breaks = re.match(r"(expression|statement) (\S+): (.*)", head).groups()
        old, new = re.split(r"(?:^|\n)=>", body, maxsplit=1)
        mutants.append((kind, file, breaks, old.strip(), new.strip()))
    return mutants


def pattern(code):
    """The code, whatever its line breaks are."""
    return r"\s+".join(re.escape(word) for word in code.split())


def plant(number, kind, text, old, new):
    found = list(re.finditer(pattern(old), text))
    if len(found) != 1:
        sys.exit(f"mutant {number}: its code stands {len(found)} times in its file: {old}")
    was, is_here = found[0].group(0), f"pinion_mutants::planted({number})"
    if kind == "statement":
        put = f"{{ if ({is_here}) {{ {new} }} else {{ {was} }} }}"
    else:
        put = f"({is_here} ? ({new}) : ({was}))"
    return text[:found[0].start()] + put + text[found[0].end():]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build/dev")
    options.add_argument("--only", default="")
    options.add_argument("--seeds", type=int, default=8)
    options.add_argument("--hours", type=float, default=0.2)
    options.add_argument("--cpu", type=int, default=15, help="seconds of a run, after which it does not end")
    options.add_argument("--at-once", type=int, default=1)
    options.add_argument("--compile-only", action="store_true")
    options.add_argument("--check", action="store_true", help="plants all, and compiles nothing")
    o = options.parse_args()
    if o.check:
        mutants = read_mutants()
        planted_files(mutants)
        print(f"{len(mutants)} bugs can be planted")
        return 0
    build = (root / o.build).resolve()
    folder = build / "mutants"
    mutants = read_mutants()
    program = compile_all(mutants, build, folder)
    if o.compile_only:
        return 0
    own = run(build / "tests" / "pinion_simulation", None, 1, .05, o.cpu, folder)
    same = run(program, None, 1, .05, o.cpu, folder)
    if own[0] != 0 or digest_of(own[1]) != digest_of(same[1]):
        sys.exit("without a planted bug the program has another history than the library:\n" + own[1] + same[1])
    chosen = [int(n) for n in o.only.split(",") if n] or range(1, len(mutants) + 1)
    found = 0
    with concurrent.futures.ThreadPoolExecutor(o.at_once) as several:
        verdicts = several.map(lambda number: verdict(program, number, o, folder), chosen)
        for number, said in zip(chosen, verdicts):
            _, file, breaks, _, _ = mutants[number - 1]
            found += said != "MISSED"
            print(f"{number:3} {file}: {breaks}: {said}"[:240], flush=True)
    print(f"{found} of {len(chosen)} are found")
    return 0 if found >= .95 * len(chosen) else 1


def verdict(program, number, o, folder):
    # A run has the core of its seed, so that two at once begin with different ones.
    for seed in sorted(range(1, o.seeds + 1), key=lambda s: (s + number) % 2):
        status, said = run(program, number, seed, o.hours, o.cpu, folder)
        if status != 0:
            why = re.findall(r"BROKEN: (.*)", said)
            return f"found by seed {seed}: " + (why[0] if why else "it does not end" if status == 137 else "it ends badly")
    return "MISSED"


def planted_files(mutants):
    """The files with all bugs in them."""
    files = {}
    for number, (kind, file, _, old, new) in enumerate(mutants, 1):
        text = files.get(file) or (root / "include" / "pinion" / file).read_text()
        files[file] = plant(number, kind, text, old, new)
    return files


def files_of_units(build):
    """The files of the library in each of its units, as the last build found them."""
    said = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    units = {}
    for block in said.split("\n\n"):
        unit = re.search(r"/cmake/compiled/(\w+\.cpp)\.o:", block)
        if unit:
            units[unit.group(1)] = set(re.findall(r"/include/pinion/(\S+)", block))
    return units


def compile_all(mutants, build, folder):
    include = folder / "include" / "pinion"
    include.mkdir(parents=True, exist_ok=True)
    (folder / "planted.hpp").write_text(PLANTED)
    files = planted_files(mutants)
    for file, text in files.items():
        path = include / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    commands = json.loads((build / "compile_commands.json").read_text())
    objects, units = [], files_of_units(build)
    for unit in sorted((root / "cmake" / "compiled").glob("*.cpp")):
        used = [f for f in files if f in units.get(unit.name, ())]
        if not used:
            continue
        entry = next(c for c in commands if c["file"].endswith(f"/cmake/compiled/{unit.name}"))
        words = shlex.split(entry["command"])
        words = words[next(i for i, w in enumerate(words) if w.endswith(("g++", "c++", "clang++"))):]
        compiled = folder / (unit.stem + ".o")
        objects.append(str(compiled))
        newest = max([(include / f).stat().st_mtime for f in used] + [unit.stat().st_mtime])
        if compiled.exists() and compiled.stat().st_mtime > newest:
            continue
        words[words.index("-o") + 1] = str(compiled)
        words[1:1] = ["-I" + str(folder / "include"), "-include", str(folder / "planted.hpp")]
        subprocess.run(words, check=True, cwd=entry["directory"])
    program = folder / "simulation_with_mutants"
    link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", "tests/pinion_simulation"],
                          capture_output=True, text=True, check=True).stdout.strip().split("\n")[-1]
    link = re.sub(r"-o tests/pinion_simulation\b", "-o " + str(program), link)
    link = re.sub(r"(\S*simulation\.cpp\.o)", r"\1 " + " ".join(objects), link, count=1)
    subprocess.run(link, shell=True, check=True, cwd=build)
    return program


def run(program, bug, seed, hours, cpu, folder):
    environment = dict(os.environ)
    environment.pop("PINION_PLANTED_BUG", None)
    if bug:
        environment["PINION_PLANTED_BUG"] = str(bug)
    command = f"ulimit -c 0 -t {cpu}; exec {program} --seed={seed} --hours={hours} --folder=/dev/shm/pinion-mutants-{bug or 0:03}"
    done = subprocess.run(["bash", "-c", command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode(errors="replace")
    return done.returncode, said


def digest_of(said):
    found = re.search(r"digest (\w+)", said)
    return found and found.group(1)


if __name__ == "__main__":
    sys.exit(main())
