"""jax_programs.py PINION_SUITE [NUMBER [SEED]]: random programs that JAX computes and differentiates, too.

A program has some inputs of float64, of whose shapes pinion may know less than there is, 5 to 20 nodes that take
inputs or earlier nodes, and a weighted sum of all nodes that no other takes. Both compute the nodes, the gradient of
the sum by each input, and a second derivative: the gradient of the first one's product with a direction.
"""

import os
import random
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # it compiles each program once
try:
    import jax
    import numpy
    from jax import numpy as jnp
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from pinion_suite import Program, Refused, Suite, disagreement

jax.config.update("jax_enable_x64", True)
TOLERANCE = 1e-9  # relative to the largest element

# A function of one operand, of pinion and of JAX, on numbers of any size.
UNARY = {
    "tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid, "sin": jnp.sin, "cos": jnp.cos, "erf": jax.scipy.special.erf,
    "atan": jnp.arctan, "asinh": jnp.arcsinh, "softplus": jax.nn.softplus, "silu": jax.nn.silu, "mish": jax.nn.mish,
    "negative": jnp.negative, "square": jnp.square, "abs": jnp.abs, "relu": jax.nn.relu, "elu": jax.nn.elu,
    "softsign": jax.nn.soft_sign, "logsigmoid": jax.nn.log_sigmoid, "selu": jax.nn.selu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False), "gelu_by_tanh": jax.nn.gelu, "relu6": jax.nn.relu6,
    "hard_swish": jax.nn.hard_swish, "stop": jax.lax.stop_gradient, "floor": jnp.floor,
}
# Those of which the operand is bounded first, by 2 tanh(x) + 3, which is in [1, 5].
BOUNDED = {"exp": jnp.exp, "log": jnp.log, "sqrt": jnp.sqrt, "rsqrt": jax.lax.rsqrt, "log1p": jnp.log1p,
           "expm1": jnp.expm1, "reciprocal": jnp.reciprocal, "sinh": jnp.sinh, "cosh": jnp.cosh, "acosh": jnp.arccosh,
           "log2": jnp.log2, "log10": jnp.log10, "exp2": jnp.exp2}
BINARY = {"add": jnp.add, "subtract": jnp.subtract, "multiply": jnp.multiply, "maximum": jnp.maximum,
          "minimum": jnp.minimum, "atan2": jnp.arctan2,
          "hypot": lambda x, y: jnp.sqrt(x * x + y * y),  # JAX's own has a wrong second derivative where |x| = |y|
          "squared_difference": lambda x, y: jnp.square(x - y)}
REDUCTIONS = {"Sum": jnp.sum, "Mean": jnp.mean, "Max": jnp.max, "Min": jnp.min, "Prod": jnp.prod,
              "reduce_logsumexp": jax.scipy.special.logsumexp, "reduce_variance": jnp.var}


def normal_rows(x, gamma, beta):
    centred = x - jnp.mean(x, -1, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred * centred, -1, keepdims=True) + 1e-3) * gamma + beta


class Both:
    """A program of both libraries: each node is one of pinion's, and a function of the values before it."""

    def __init__(self, dice):
        self.dice = dice
        self.known = dice.choice(["all", "all", "rank", "nothing"])  # to pinion of the shapes of inputs
        self.rng = numpy.random.default_rng(dice.randrange(1 << 30))
        self.program, self.shapes, self.inputs, self.arrays = Program(), {}, [], []
        self.steps, self.used, self.text = [], set(), []

    def input(self, shape):
        return self.fed(self.rng.standard_normal(shape))

    def fed(self, array):
        known = {"all": {}, "rank": {"shape": [-1] * array.ndim}, "nothing": {"shape": None}}[self.known]
        end = self.program.feed(array, **known)
        self.inputs.append(end)
        self.arrays.append(array)
        self.shapes[end] = array.shape
        return end

    def node(self, function, name, *operands, **options):
        end = self.program.call(name, *operands, **options)
        return self.step(end, function, operands, f"{name}({', '.join(map(str, operands))}{', ' if options else ''}"
                         f"{', '.join(f'{k}={v}' for k, v in options.items())})")

    def step(self, end, function, operands, text):
        kinds = [jax.ShapeDtypeStruct(self.shapes[x], numpy.float64) for x in operands]
        self.steps.append((end, function, operands))
        self.shapes[end] = jax.eval_shape(function, *kinds).shape
        self.used.update(operands)
        self.text.append(f"{end} = {text}")
        return end

    def results(self):
        return [end for end, _, _ in self.steps if end not in self.used]

    def computed(self, arrays):
        """The values of all nodes, by those of the inputs."""
        values = dict(zip(self.inputs, arrays))
        for end, function, operands in self.steps:
            values[end] = function(*(values[x] for x in operands))
        return values

    # ---- kinds of nodes

    def any(self, condition=lambda shape: True):
        fitting = [end for end, shape in self.shapes.items() if condition(shape)]
        return self.dice.choice(fitting) if fitting else None

    def unary(self):
        name = self.dice.choice(sorted(UNARY))
        return self.node(UNARY[name], "StopGradient" if name == "stop" else name, self.any())

    def bounded(self):
        name = self.dice.choice(sorted(BOUNDED))
        return self.node(BOUNDED[name], name, self.tame())

    def tame(self):
        y = self.node(jnp.tanh, "tanh", self.any())
        y = self.node(jnp.multiply, "multiply", y, self.constant(2.0))
        return self.node(jnp.add, "add", y, self.constant(3.0))

    def constant(self, value):
        return self.fed(numpy.asarray(value))

    def binary(self):
        a = self.any()
        shape = self.shapes[a]

        def fits(other):
            try:
                return numpy.prod(numpy.broadcast_shapes(shape, other)) <= 500
            except ValueError:
                return False
        name = self.dice.choice(sorted(BINARY))
        return self.node(BINARY[name], name, a, self.any(fits))

    def divide(self):
        return self.node(jnp.divide, "divide", self.any(lambda s: s == ()) or self.any(), self.scalar_of(self.tame()))

    def scalar_of(self, x):
        return self.node(jnp.mean, "Mean", x)

    def reduction(self):
        x = self.any()
        rank = len(self.shapes[x])
        axes = sorted(self.dice.sample(range(rank), self.dice.randint(0, rank)))
        name, keep = self.dice.choice(sorted(REDUCTIONS)), self.dice.random() < 0.5
        function = REDUCTIONS[name]
        return self.node(lambda v: function(v, axis=tuple(axes), keepdims=keep), name, x, axes=axes, keep_dims=keep)

    def matmul(self):
        a = self.any(lambda s: len(s) >= 2)
        if a is None:
            return self.unary()
        n = self.shapes[a][-1]
        b = self.any(lambda s: len(s) == 2 and s[0] == n) or self.input((n, self.dice.randint(1, 4)))
        return self.node(jnp.matmul, "matmul", a, b)

    def layout(self):
        x = self.any(lambda s: len(s) >= 1)
        if x is None:
            return self.unary()
        rank = len(self.shapes[x])
        axis, perm = self.dice.randrange(rank), self.dice.sample(range(rank), rank)
        n = self.shapes[x][axis]
        begin, end, step = self.dice.randrange(n), n, self.dice.choice([1, 2])
        cut = tuple([slice(None)] * axis + [slice(begin, end, step)])
        zeros = [0] * rank
        kinds = [
            lambda: self.node(lambda y: jnp.transpose(y, perm), "Transpose", x, perm=perm),
            lambda: self.node(lambda y: jnp.reshape(y, [-1]), "Reshape", x, shape=[-1]),
            lambda: self.node(lambda y: jnp.expand_dims(y, axis), "ExpandDims", x, axis=axis),
            lambda: self.node(lambda y: jnp.flip(y, axis), "ReverseV2", x, axes=[axis]),
            lambda: self.node(lambda y: jnp.roll(y, 1, axis), "Roll", x, shifts=[1], axes=[axis]),
            lambda: self.node(lambda y: y[cut], "StridedSlice", x, begin=zeros[:axis] + [begin],
                              end=zeros[:axis] + [end], strides=[1] * axis + [step], begin_mask=(1 << axis) - 1,
                              end_mask=(1 << axis) - 1),
            lambda: self.node(lambda y, z: jnp.concatenate([y, z], axis), "ConcatV2", x, x, axis=axis),
            lambda: self.node(lambda y: jnp.cumsum(y, axis), "Cumsum", x, axis=axis),
            lambda: self.node(lambda y: jnp.sort(y, axis), "Sort", x, axis=axis),
            lambda: self.node(lambda y: jax.nn.softmax(y), "Softmax", x),
            lambda: self.node(lambda y: jax.nn.log_softmax(y), "LogSoftmax", x),
        ]
        return self.dice.choice(kinds)()

    def along_axis(self):
        x = self.any(lambda s: len(s) >= 1)
        if x is None:
            return self.unary()
        shape = self.shapes[x]
        axis = self.dice.randrange(len(shape))
        n, ones = shape[axis], self.fed(self.rng.standard_normal(shape[-1]))
        places = numpy.array([self.dice.randrange(n) for _ in range(3)])
        twice = [2 if i == axis else 1 for i in range(len(shape))]
        around = [[1, 2] if i == axis else [0, 0] for i in range(len(shape))]
        kinds = [
            lambda: self.node(lambda y: jnp.cumprod(y, axis), "Cumprod", x, axis=axis),
            lambda: self.node(lambda y: jnp.flip(jnp.cumsum(jnp.flip(y, axis), axis), axis) - y, "Cumsum", x, axis=axis,
                              exclusive=True, reverse=True),
            lambda: self.node(lambda y: jnp.tile(y, twice), "Tile", x, multiples=twice),
            lambda: self.node(lambda y: jnp.pad(y, around), "pad", x, around=around),
            lambda: self.node(lambda y: jnp.pad(y, around, "symmetric"), "pad", x, around=around, mode="symmetric")
            if n > 1 else self.unary(),
            lambda: self.node(lambda y: jnp.repeat(y, 2, axis), "repeat", x, times=2, axis=axis),
            lambda: self.node(normal_rows, "LayerNorm", x, ones, ones, epsilon=1e-3),
            lambda: self.node(lambda y: y / jnp.sqrt(jnp.maximum(jnp.sum(y * y, axis, keepdims=True), 1e-12)),
                              "l2_normalize", x, axes=[axis]),
            lambda: self.node(lambda y: jnp.linalg.norm(y, None, axis), "norm", x, axes=[axis]),
            lambda: self.gather(x, places, axis),
            lambda: self.node(lambda y, _, z: jnp.einsum("...i,...i,i->...", y, y, z), "einsum", x, x, ones,
                              equation="...i,...i,i->...") if len(shape) > 1 else self.unary(),
        ]
        return self.dice.choice(kinds)()

    def gather(self, x, places, axis):
        end = self.program.call("Gather", x, self.program.feed(places), axis=axis)
        return self.step(end, lambda y: jnp.take(y, places, axis), (x,), f"Gather({x}, {places}, axis={axis})")

    def select(self):
        a, b = self.any(), self.any()
        try:
            numpy.broadcast_shapes(self.shapes[a], self.shapes[b])
        except ValueError:
            return self.unary()
        mask = self.program.call("greater", a, b)
        end = self.program.call("select", mask, a, b)
        return self.step(end, lambda x, y: jnp.where(x > y, x, y), (a, b), f"select({a} > {b}, {a}, {b})")


def grown(dice):
    both = Both(dice)
    rank = dice.randint(1, 3)
    shape = [dice.randint(1, 4) for _ in range(rank)]
    for _ in range(dice.randint(1, 3)):
        kept = shape[dice.randint(0, rank):] if dice.random() < 0.4 else shape
        both.input([1 if dice.random() < 0.2 else n for n in kept])
    kinds = [both.unary] * 4 + [both.binary] * 4 + [both.bounded, both.divide, both.select] + \
        [both.reduction, both.matmul, both.layout, both.along_axis] * 2
    wanted = dice.randint(5, 20)
    while len(both.steps) < wanted:
        dice.choice(kinds)()
    return both


def weighted_sum(both, weights):
    """The sum of pinion's results, weighted, as a node."""
    p, total = both.program, None
    for end, w in weights.items():
        part = p.call("Sum", p.call("multiply", end, w))
        total = part if total is None else p.call("add", total, part)
    return total


def by_jax(both, weights, directions):
    """The values of all nodes, the gradients of their weighted sum, and the second derivatives."""
    def total(arrays):
        values = both.computed(arrays)
        return sum(jnp.sum(values[end] * w) for end, w in weights.items()), values

    def along(arrays):
        (_, values), first = jax.value_and_grad(total, has_aux=True)(arrays)
        return sum(jnp.sum(g * d) for g, d in zip(first, directions)), (values, first)

    @jax.jit
    def all(arrays):
        (_, (values, first)), second = jax.value_and_grad(along, has_aux=True)(arrays)
        return [values[end] for end, _, _ in both.steps], first, second
    return [[numpy.asarray(x) for x in part] for part in all(both.arrays)]


PARTS = ("value", "gradient", "second derivative")


def check(suite, number, seed):
    both = grown(random.Random(f"{seed}/{number}"))
    weights = {end: both.rng.standard_normal(both.shapes[end]) for end in both.results()}
    directions = [both.rng.standard_normal(a.shape) for a in both.arrays]
    expected = by_jax(both, weights, directions)
    for part, arrays in zip(PARTS, expected):
        if not all(numpy.isfinite(x).all() and numpy.abs(x).max(initial=0) < 1e6 for x in arrays):
            suite.leaves_out(f"{part} beyond a million, or not finite")
            return
    text = "\n  ".join(both.text)
    try:
        got = suite.run_twice(both.program, [end for end, _, _ in both.steps], weighted_sum(both, weights), both.inputs,
                              directions)
    except Refused as e:
        if "needs to know how many axes" in e.sentence and both.known == "nothing":
            suite.leaves_out("functions that need to know the rank")
            return
        suite.fails("refusal", f"program {number}: {e}\n  {text}")
        return
    for part, ours, theirs in zip(PARTS, got, expected):
        for i, (x, y) in enumerate(zip(ours, theirs)):
            wrong = disagreement(x, y, TOLERANCE, TOLERANCE * max(numpy.abs(y).max(initial=0), 1))
            if wrong:
                suite.fails(part, f"program {number}, number {i} of the {part}s: {wrong}\n  {text}")
                return
    suite.passes("programs")


def main(executable, number="150", seed="1"):
    suite = Suite("jax_programs", executable)
    for i in range(int(number)):
        check(suite, i, seed)
    return suite.report()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
