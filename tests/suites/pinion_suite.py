"""The program pinion_suite, to which suites of other libraries send programs, and what they count."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

NOT_INSTALLED = 77  # what a suite exits with, so that ctest skips it


class Refused(Exception):
    """Pinion answered with an error."""

    def __init__(self, code, sentence):
        super().__init__(f"{code}: {sentence}")
        self.code, self.sentence = code, sentence


class Program:
    """A program of nodes; its methods return the number of the node that they add."""

    def __init__(self):
        self.nodes, self.arrays = [], []

    def feed(self, array, **known):
        """An array that is fed; shape=... tells less of its shape than there is."""
        self.arrays.append(numpy.asarray(array))
        return self._add({"feed": f"x{len(self.arrays) - 1}.npy", **known})

    def call(self, function, *operands, **options):
        """A call of a function of pinion, or of an op of its catalogue. Arrays among operands are fed, and
        what has an attribute "end" stands for it."""
        ends = [getattr(x, "end", x) for x in operands]
        ends = [x if is_end(x) else self.feed(x) for x in ends]
        return self._add({"call": function, "in": ends, "options": options})

    def _add(self, node):
        self.nodes.append(node)
        return len(self.nodes) - 1


def is_end(x):
    """Whether an operand is a node, or [node, output]."""
    return isinstance(x, int) or (isinstance(x, list) and len(x) == 2 and all(isinstance(i, int) for i in x))


class Suite:
    """Runs programs by one process of pinion_suite, and counts what came of them."""

    def __init__(self, name, executable):
        self.name = name
        self.executable = executable
        self.passed, self.failures = collections.Counter(), []
        self.left_out = collections.Counter()
        self._directory = tempfile.TemporaryDirectory()
        self._folder = pathlib.Path(self._directory.name)
        self._process = None

    def run(self, program, fetch, of=None, by=()):
        """The values of `fetch`, and the gradients of the sum of `of` by `by`, None for one that is not reached.
        Raises Refused where pinion refuses the program."""
        answer = self._answer(program, fetch, {"of": of, "by": list(by)} if by else None)
        return self._load(answer["values"]), self._load(answer.get("gradient", []))

    def run_twice(self, program, fetch, of, by, directions):
        """The same, and the gradients of the sum of the first ones' products with the directions."""
        along = [program.feed(d) for d in directions]
        answer = self._answer(program, fetch, {"of": of, "by": list(by), "along": along})
        return tuple(self._load(answer[part]) for part in ("values", "gradient", "second"))

    def _answer(self, program, fetch, gradient):
        for i, array in enumerate(program.arrays):
            numpy.save(self._folder / f"x{i}.npy", array, allow_pickle=False)
        request = {"nodes": program.nodes, "fetch": list(fetch)}
        answer = self._ask({**request, "gradient": gradient} if gradient else request)
        if "error" in answer:
            raise Refused(answer["code"], answer["error"])
        return answer

    def _ask(self, request):
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [self.executable, self._folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"error": f"pinion_suite ended: {self._process.wait()}", "code": "crash"}

    def _load(self, files):
        return [None if name is None else numpy.load(self._folder / name) for name in files]

    def passes(self, what):
        self.passed[what] += 1

    def fails(self, what, why):
        self.failures.append((what, why))

    def leaves_out(self, reason, number=1):
        self.left_out[reason] += number

    def report(self, shown=3):
        """Prints some failures of each kind and the counts, and returns the exit status."""
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
        seen = collections.Counter()
        for what, why in self.failures:
            seen[what] += 1
            if seen[what] <= shown:
                print(f"failed: {what}: {why}")
        reasons = ", ".join(f"{reason}: {n}" for reason, n in self.left_out.most_common())
        print(f"{self.name}: {sum(self.passed.values())} passed, {len(self.failures)} failed, "
              f"{sum(self.left_out.values())} left out" + (f" ({reasons})" if reasons else ""))
        return 1 if self.failures else 0


def disagreement(got, expected, rtol, atol):
    """Says how an array differs from the expected one, or None. NaN is equal to NaN."""
    if got is None:
        return None if not numpy.any(expected) else "no gradient, where another was expected"
    if got.shape != expected.shape:
        return f"shape {got.shape} instead of {expected.shape}"
    if got.size == 0 or numpy.array_equal(got, expected):
        return None
    if expected.dtype == bool or numpy.issubdtype(expected.dtype, numpy.integer):
        wrong = got != expected
    else:
        wrong = ~numpy.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {got.size} elements differ, such as {got[at]!r} instead of {expected[at]!r} at {at}"


def skip(reason):
    """Ends a suite whose library is not installed."""
    print(f"skipped: {reason}")
    sys.exit(NOT_INSTALLED)
