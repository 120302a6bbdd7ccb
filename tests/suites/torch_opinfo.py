"""torch_opinfo.py PINION_SUITE [WORD...]: torch's own samples of its functions, for values and gradients.

Each sample of torch.testing's op_db whose function torch_functions.py writes with pinion's is computed by both, and so
is the gradient of a weighted sum of the results. Words choose functions that have one of them in their names.
"""

import collections
import inspect
import os
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
try:
    import numpy
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import torch_functions_of_layout  # noqa: F401: adds its rows
import torch_functions_of_networks  # noqa: F401
from pinion_suite import Program, Refused, Suite, disagreement
from torch_functions import FUNCTIONS, LeftOut, Tensor

# How far results may be from each other, relative to themselves, and to the largest one of an array or to 1: the
# gradients of a normalization are differences of far greater numbers.
RELATIVE = {torch.float32: 2e-5, torch.float64: 1e-11}
ABSOLUTE = {torch.float32: 5e-5, torch.float64: 1e-11}
# Where one of both computes doubles with floats: torch's derivative of hardsigmoid is the float 1/6; pinion finds the
# places of a resizing in float, as TensorFlow does.
IN_FLOAT = {"nn.functional.hardsigmoid", "nn.functional.interpolate/bilinear"}
# Functions whose further results, such as places in an image, pinion lacks: the first one is compared.
FIRST_RESULT = {"nn.functional.max_pool1d", "nn.functional.max_pool2d", "unique"}
DTYPES = {torch.float32, torch.float64, torch.int32, torch.int64, torch.bool, torch.uint8}


def mapped(f, x):
    """x with f of each tensor in it."""
    if isinstance(x, torch.Tensor):
        return f(x)
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(mapped(f, y) for y in x)
    return {k: mapped(f, v) for k, v in x.items()} if isinstance(x, dict) else x


def tensors_of(x):
    found = []
    mapped(found.append, list(x) if isinstance(x, tuple) else x)
    return found


class Case:
    """A sample: what torch computes of it, and the program that pinion shall run."""

    def __init__(self, op, sample):
        fresh = lambda t: t.detach().clone().requires_grad_(t.requires_grad)
        self.arguments = mapped(fresh, [sample.input, *sample.args])
        self.options = mapped(fresh, dict(sample.kwargs))
        self.inputs = tensors_of([self.arguments, self.options])
        if any(t.dtype not in DTYPES or t.layout != torch.strided for t in self.inputs):
            raise LeftOut("dtypes and layouts that pinion lacks")
        self.outputs = tensors_of(op(*self.arguments, **self.options))
        self.sources = [t for t in self.inputs if t.requires_grad]
        self.slopes = [i for i, y in enumerate(self.outputs) if y.requires_grad and y.is_floating_point()]
        self.weights = [torch.randn(self.outputs[i].shape, dtype=self.outputs[i].dtype) for i in self.slopes]

    def gradients(self):
        loss = sum((self.outputs[i] * w).sum() for i, w in zip(self.slopes, self.weights))
        found = torch.autograd.grad(loss, self.sources, allow_unused=True)
        return [torch.zeros_like(x) if g is None else g for x, g in zip(self.sources, found)]

    def program(self, function):
        """The program, its results, the inputs to differentiate by, and the sum of the weighted results."""
        p, by = Program(), []

        def fed(t):
            array = t.numpy(force=True)
            end = p.feed(array)
            if t.requires_grad:
                by.append(end)
            return Tensor(end, array)

        arguments, options = mapped(fed, self.arguments), mapped(fed, self.options)
        try:
            inspect.signature(function).bind(p, *arguments, **options)
        except TypeError as e:
            raise LeftOut("arguments that pinion lacks") from e
        ends = function(p, *arguments, **options)
        ends = ends if isinstance(ends, list) and not (len(ends) == 2 and ends[1:] == [0]) else [ends]
        ends = [e.end if isinstance(e, Tensor) else e for e in ends]
        return p, ends, by, self.sum_of(p, ends) if self.slopes else None

    def sum_of(self, p, ends):
        sums = [p.call("Sum", p.call("multiply", ends[i], w.numpy())) for i, w in zip(self.slopes, self.weights)]
        total = sums[0]
        for more in sums[1:]:
            total = p.call("add", total, more)
        return total


def difference(case, dtype, values, gradients):
    """Says what pinion computes otherwise, or None."""
    pairs = list(zip(["value"] * len(values), values, case.outputs))
    if case.slopes:
        pairs += [("gradient", g, e) for g, e in zip(gradients, case.gradients())]
    for what, got, expected in pairs:
        expected = expected.numpy(force=True)
        finite = numpy.abs(expected[numpy.isfinite(expected)]) if expected.size else expected
        largest = float(finite.max()) if finite.size else 0
        if got is not None and not numpy.issubdtype(expected.dtype, numpy.floating):
            got = got.astype(expected.dtype)  # indices of int32 stand for those of int64
        wrong = disagreement(got, expected, RELATIVE[dtype], ABSOLUTE[dtype] * max(largest, 1))
        if wrong:
            return f"{what}: {wrong}"
    return None


def check(suite, key, op, sample, dtype, function):
    case = Case(op, sample)
    p, ends, by, total = case.program(function)
    if len(ends) != len(case.outputs) and key not in FIRST_RESULT:
        raise LeftOut("results that pinion lacks")
    try:
        values, gradients = suite.run(p, ends, total, by if case.slopes else ())
    except Refused as e:
        suite.fails(key, f"{e}; {described(case)}")
        return
    wrong = difference(case, torch.float32 if key in IN_FLOAT else dtype, values, gradients)
    suite.fails(key, f"{wrong}; {described(case)}") if wrong else suite.passes(key)


def described(case):
    """The arguments, with shapes for tensors."""
    shapes = lambda t: "x".join(map(str, t.shape)) or "scalar"
    dtype = case.inputs[0].dtype if case.inputs else "no inputs"
    return f"{mapped(shapes, case.arguments)} {mapped(shapes, case.options)} {dtype}"


def check_op(suite, op):
    key = op.name + ("/" + op.variant_test_name if op.variant_test_name else "")
    if key not in FUNCTIONS:
        suite.leaves_out("functions of torch that no row writes")
        return
    for dtype in (torch.float32, torch.float64):
        if dtype not in op.supported_dtypes("cpu"):
            continue
        torch.manual_seed(1)
        for sample in op.sample_inputs("cpu", dtype, requires_grad=op.supports_autograd):
            try:
                check(suite, key, op, sample, dtype, FUNCTIONS[key])
            except LeftOut as e:
                suite.leaves_out(str(e))
            except Exception as e:  # a fault of the table, which shall not end the suite
                suite.fails(key, f"{type(e).__name__} {e}")


def main(executable, *words):
    suite = Suite("torch_opinfo", executable)
    for op in op_db:
        if not words or any(word in op.name for word in words):
            check_op(suite, op)
    failed = collections.Counter(key for key, _ in suite.failures)
    for key in sorted({*suite.passed, *failed}):
        print(f"{key:50} {suite.passed[key]:5} passed {failed[key]:5} failed")
    return suite.report()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
