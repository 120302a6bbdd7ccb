"""numpy_umath.py PINION_SUITE: the values of NumPy's own tests of its elementwise functions.

NumPy's files umath-validation-set-*.csv hold inputs, results and how many ulp a function may be away from them. A value
passes where it meets that, or what the function of pinion promises (tests/scalar/maths_table.hpp) where that is more.
"""

import csv
import glob
import os
import sys

try:
    import numpy
except ImportError:
    print("skipped: there is no numpy")
    sys.exit(77)

from pinion_suite import Program, Suite, skip

# The name of each function in pinion, and how many ulp its result in float and double may be away from the exact one:
# for those of one instruction what tests/scalar/maths_table.hpp says. Others are formulas of these, which promise no
# number; 4 is what the suite expects of them. None: pinion has no such function.
FUNCTIONS = {
    "arccos": ("acos", 4, 4), "arccosh": ("acosh", 4, 4), "arcsin": ("asin", 4, 4), "arcsinh": ("asinh", 4, 4),
    "arctan": ("atan", 4, 4), "arctanh": ("atanh", 4, 4), "cbrt": None, "cos": ("cos", 0.6, 2.6),
    "cosh": ("cosh", 4, 4), "exp": ("exp", 1.1, 1.6), "exp2": ("exp2", 4, 4), "expm1": ("expm1", 1.8, 3),
    "log": ("log", 1, 1), "log10": ("log10", 4, 4), "log1p": ("log1p", 1.5, 1.5), "log2": ("log2", 4, 4),
    "sin": ("sin", 0.6, 2.6), "sinh": ("sinh", 4, 4), "tan": ("tan", 4, 4), "tanh": ("tanh", 2.6, 3.5),
}
DTYPES = {"np.float32": (numpy.float32, numpy.uint32), "np.float64": (numpy.float64, numpy.uint64)}


def folder_of_data():
    """It is in numpy/core before NumPy 2."""
    folders = [os.path.join(os.path.dirname(numpy.__file__), core, "tests", "data") for core in ("_core", "core")]
    return next((folder for folder in folders if os.path.isdir(folder)), folders[0])


def rows_of(file):
    """The inputs, results and tolerances of each dtype in a file."""
    rows = {}
    with open(file, newline="") as lines:
        text = (line for line in lines if line[0] not in "#$" and not line.startswith("dtype"))
        for dtype, x, y, tolerance in (row[:4] for row in csv.reader(text) if row):
            rows.setdefault(dtype.strip(), []).append((int(x, 16), int(y, 16), int(tolerance)))
    for dtype, found in rows.items():
        if dtype in DTYPES:
            real, bits = DTYPES[dtype]
            x, y = (numpy.array([row[i] for row in found], dtype=bits).view(real) for i in (0, 1))
            yield dtype, x, y, numpy.array([row[2] for row in found])


def ulps(got, expected):
    """How many numbers lie between two; 0 for two NaN, infinite for one."""
    def places(x):
        bits = x.view(numpy.int32 if x.dtype == numpy.float32 else numpy.int64).astype(object)
        lowest = -2 ** (8 * x.itemsize - 1)
        return numpy.where(bits < 0, lowest - bits, bits)
    nan = numpy.isnan(got), numpy.isnan(expected)
    distance = numpy.abs(places(got) - places(expected)).astype(float)
    return numpy.where(nan[0] & nan[1], 0, numpy.where(nan[0] | nan[1], numpy.inf, distance))


def compare(suite, function, dtype, x, y, tolerance):
    spelling, single, double = FUNCTIONS[function]
    program = Program()
    (got,), _ = suite.run(program, [program.call(spelling, program.feed(x))])
    distance = ulps(got, y)
    promise = single if x.dtype == numpy.float32 else double
    right = distance <= numpy.maximum(tolerance, numpy.ceil(promise))
    strict = int((distance <= tolerance).sum())
    print(f"{function:10} {dtype[3:]:8} {x.size:6} values, {strict:6} within NumPy's tolerance, "
          f"{int(right.sum()):6} within pinion's; the farthest is {distance.max():g} ulp away")
    suite.passed[function] += int(right.sum())
    for i in numpy.flatnonzero(~right):
        suite.fails(f"{function} of {x[i]!r}", f"{got[i]!r} instead of {y[i]!r}, {distance[i]:g} ulp away")
    return strict


def main(executable):
    files = sorted(glob.glob(os.path.join(folder_of_data(), "umath-validation-set-*.csv")))
    if not files:
        skip("this numpy has no data of its tests")
    suite = Suite("numpy_umath", executable)
    strict = 0
    for file in files:
        function = os.path.basename(file)[len("umath-validation-set-"):-len(".csv")]
        for dtype, x, y, tolerance in rows_of(file):
            if FUNCTIONS.get(function) is None:
                suite.leaves_out(f"pinion has no {function}", x.size)
            else:
                strict += compare(suite, function, dtype, x, y, tolerance)
    print(f"{strict} of {sum(suite.passed.values()) + len(suite.failures)} values are within NumPy's own tolerance")
    return suite.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
