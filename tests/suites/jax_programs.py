"""jax_programs.py PINION_SUITE [NUMBER [SEED]]: random programs of 5 to 20 nodes, computed and differentiated by JAX too.

A program has some inputs of float64, nodes that take inputs or earlier nodes, and a weighted sum of all nodes that no
other takes. Both compute the nodes, the gradient of the sum by each input, and a second derivative: the gradient of the
first one's product with a direction.
"""

import os
import random
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
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
          "minimum": jnp.minimum, "atan2": jnp.arctan2, "hypot": jnp.hypot,
          "squared_difference": lambda x, y: jnp.square(x - y)}
REDUCTIONS = {"Sum": jnp.sum, "Mean": jnp.mean, "Max": jnp.max, "Min": jnp.min, "Prod": jnp.prod,
              "reduce_logsumexp": jax.scipy.special.logsumexp, "reduce_variance": jnp.var}


class Both:
    """A program of both libraries: each node is one of pinion's, and a function of the values before it."""

    def __init__(self, dice):
        self.dice = dice
        self.rng = numpy.random.default_rng(dice.randrange(1 << 30))
        self.program, self.values, self.inputs, self.steps, self.used, self.text = Program(), {}, [], [], set(), []

    def input(self, shape):
        array = self.rng.standard_normal(shape)
        end = self.program.feed(array)
        self.inputs.append(end)
        self.values[end] = array
        return end

    def node(self, function, name, *operands, **options):
        end = self.program.call(name, *operands, **options)
        self.steps.append((end, function, operands))
        self.values[end] = numpy.asarray(function(*(self.values[x] for x in operands)))
        self.used.update(operands)
        self.text.append(f"{end} = {name}({', '.join(map(str, operands))}{', ' if options else ''}"
                         f"{', '.join(f'{k}={v}' for k, v in options.items())})")
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
        fitting = [end for end, v in self.values.items() if condition(v.shape)]
        return self.dice.choice(fitting) if fitting else None

    def unary(self):
        name = self.dice.choice(sorted(UNARY))
        return self.node(UNARY[name], "StopGradient" if name == "stop" else name, self.any())

    def bounded(self):
        name = self.dice.choice(sorted(BOUNDED))
        tame = self.node(lambda x: jnp.tanh(x) * 2 + 3, "affine_tanh", self.any()) if False else self.tame()
        return self.node(BOUNDED[name], name, tame)

    def tame(self):
        y = self.node(jnp.tanh, "tanh", self.any())
        y = self.node(jnp.multiply, "multiply", y, self.constant(2.0))
        return self.node(jnp.add, "add", y, self.constant(3.0))

    def constant(self, value):
        end = self.program.feed(numpy.float64(value))
        self.values[end] = numpy.float64(value)
        self.inputs.append(end)
        return end

    def binary(self):
        a = self.any()
        shape = self.values[a].shape

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
        rank = self.values[x].ndim
        axes = sorted(self.dice.sample(range(rank), self.dice.randint(0, rank)))
        name, keep = self.dice.choice(sorted(REDUCTIONS)), self.dice.random() < 0.5
        function = REDUCTIONS[name]
        return self.node(lambda v: function(v, axis=tuple(axes), keepdims=keep), name, x, axes=axes, keep_dims=keep)

    def matmul(self):
        a = self.any(lambda s: len(s) >= 2)
        if a is None:
            return self.unary()
        n = self.values[a].shape[-1]
        b = self.any(lambda s: len(s) == 2 and s[0] == n) or self.input((n, self.dice.randint(1, 4)))
        return self.node(jnp.matmul, "matmul", a, b)

    def layout(self):
        x = self.any(lambda s: len(s) >= 1)
        if x is None:
            return self.unary()
        v = self.values[x]
        axis, rank, perm = self.dice.randrange(v.ndim), v.ndim, self.dice.sample(range(v.ndim), v.ndim)
        n = v.shape[axis]
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
            lambda: self.node(lambda y: jnp.concatenate([y, y], axis), "ConcatV2", x, x, axis=axis),
            lambda: self.node(lambda y: jnp.cumsum(y, axis), "Cumsum", x, axis=axis),
            lambda: self.node(lambda y: jnp.sort(y, axis), "Sort", x, axis=axis),
            lambda: self.node(lambda y: jax.nn.softmax(y), "Softmax", x),
            lambda: self.node(lambda y: jax.nn.log_softmax(y), "LogSoftmax", x),
        ]
        return self.dice.choice(kinds)()

    def select(self):
        a, b = self.any(), self.any()
        try:
            numpy.broadcast_shapes(self.values[a].shape, self.values[b].shape)
        except ValueError:
            return self.unary()
        mask = self.program.call("greater", a, b)
        end = self.program.call("select", mask, a, b)
        function = lambda x, y: jnp.where(x > y, x, y)
        self.steps.append((end, function, (a, b)))
        self.values[end] = numpy.asarray(function(self.values[a], self.values[b]))
        self.used.update((a, b))
        self.text.append(f"{end} = select({a} > {b}, {a}, {b})")
        return end


def grown(dice):
    both = Both(dice)
    rank = dice.randint(1, 3)
    shape = [dice.randint(1, 4) for _ in range(rank)]
    for _ in range(dice.randint(1, 3)):
        kept = shape[dice.randint(0, rank):] if dice.random() < 0.4 else shape
        both.input([1 if dice.random() < 0.2 else n for n in kept])
    kinds = [both.unary] * 4 + [both.binary] * 4 + [both.bounded, both.divide, both.select] + \
        [both.reduction, both.matmul, both.layout] * 2
    wanted = dice.randint(5, 20)
    while len(both.steps) < wanted:
        dice.choice(kinds)()
    return both


def weighted_sum(both, weights):
    """The sum of pinion's results, weighted, as a node; and the same as a function of the inputs."""
    p, total = both.program, None
    for end, w in weights.items():
        part = p.call("Sum", p.call("multiply", end, w))
        total = part if total is None else p.call("add", total, part)
    return total, lambda arrays: sum(jnp.sum(v * weights[end]) for end, v in both.computed(arrays).items()
                                     if end in weights)


def check(suite, number, seed):
    both = grown(random.Random(f"{seed}/{number}"))
    weights = {end: both.rng.standard_normal(both.values[end].shape) for end in both.results()}
    total, function = weighted_sum(both, weights)
    arrays = [both.values[x] for x in both.inputs]
    if any(numpy.abs(v).max(initial=0) > 1e6 for v in both.values.values()):
        suite.leaves_out("numbers beyond a million")
        return
    ends = [end for end, _, _ in both.steps]
    directions = [both.rng.standard_normal(a.shape) for a in arrays]
    try:
        values, first, second = suite.run_twice(both.program, ends, total, both.inputs, directions)
    except Refused as e:
        suite.fails("refusal", f"program {number}: {e}\n  " + "\n  ".join(both.text))
        return
    gradient = jax.grad(function)
    along = lambda xs: sum(jnp.sum(g * d) for g, d in zip(gradient(xs), directions))
    pairs = [*(("value", g, both.values[end]) for g, end in zip(values, ends)),
             *(("gradient", g, e) for g, e in zip(first, gradient(arrays))),
             *(("second derivative", g, e) for g, e in zip(second, jax.grad(along)(arrays)))]
    for what, got, expected in pairs:
        expected = numpy.asarray(expected)
        if not numpy.isfinite(expected).all():
            suite.leaves_out(f"programs of which JAX's {what} is not finite")
            return
        wrong = disagreement(got, expected, TOLERANCE, TOLERANCE * max(numpy.abs(expected).max(initial=0), 1))
        if wrong:
            suite.fails(what, f"program {number}: {wrong}\n  " + "\n  ".join(both.text))
            return
    suite.passes("programs")


def main(executable, number="300", seed="1"):
    suite = Suite("jax_programs", executable)
    for i in range(int(number)):
        check(suite, i, seed)
    return suite.report()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
