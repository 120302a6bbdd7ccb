"""How a function of torch is written with pinion's. A row takes the program and the arguments of torch's function, with
a Tensor for each tensor, and returns the node of the result, or a list of nodes."""

import math

import numpy


class LeftOut(Exception):
    """Pinion lacks what the arguments ask for, or departs from torch there; the text says what it is."""


class Tensor:
    """An array of the program, of which the shape and the dtype are known."""

    def __init__(self, end, array):
        self.end, self.array, self.shape, self.dtype, self.rank = end, array, array.shape, array.dtype, array.ndim


def only(condition, reason):
    if not condition:
        raise LeftOut(reason)


def like(x, y):
    """An operand beside x: a tensor of its dtype, or a number, which takes it."""
    if isinstance(y, Tensor):
        only(x.dtype == y.dtype, "operands of two dtypes")
        return y
    only(not isinstance(y, complex), "complex numbers")
    return numpy.asarray(y, x.dtype)


def both(x, y):
    if not isinstance(x, Tensor):
        return numpy.asarray(x, y.dtype), y
    return x, like(x, y)


def axis_of(dim, rank):
    return dim % max(rank, 1)


def axes_of(dim, rank):
    """The option "axes" of a reduction."""
    if dim is None or dim == () or dim == []:
        return {}
    dims = [dim] if isinstance(dim, int) else list(dim)
    return {"axes": [axis_of(d, rank) for d in dims] if rank else []}


def size(x, axes):
    return math.prod(x.shape[a] for a in axes.get("axes", range(x.rank)))


FUNCTIONS = {}


def row(*names):
    def add(f):
        for name in names:
            FUNCTIONS[name] = f
        return f
    return add


# ---- elementwise

for theirs in ("abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor log log10 log1p log2 "
               "reciprocal rsqrt round sigmoid sign sin sinh sqrt square tan tanh trunc neg:negative sgn:sign "
               "isfinite:is_finite isinf:is_inf isnan:is_nan positive:Identity clone:Identity "
               "nn.functional.relu:relu nn.functional.relu6:relu6 nn.functional.selu:selu nn.functional.silu:silu "
               "nn.functional.mish:mish nn.functional.softsign:softsign nn.functional.logsigmoid:logsigmoid "
               "nn.functional.hardsigmoid:hard_sigmoid nn.functional.hardswish:hard_swish").split():
    theirs, _, ours = theirs.partition(":")
    FUNCTIONS[theirs] = lambda p, x, inplace=False, *, ours=ours or theirs: p.call(ours, x)

for theirs in ("maximum minimum pow atan2 hypot eq:equal ne:not_equal lt:less le:less_equal gt:greater "
               "ge:greater_equal mul:multiply div/no_rounding_mode:divide true_divide:divide remainder:mod "
               "floor_divide:floordiv div/floor_rounding:floordiv max/binary:maximum min/binary:minimum "
               "xlogy").split():
    theirs, _, ours = theirs.partition(":")
    FUNCTIONS[theirs] = (lambda p, x, y, rounding_mode=None, *, ours=ours or theirs:
                         p.call(ours, *both(x, y)))

for theirs in "__radd__:add __rmul__:multiply __rsub__:subtract __rdiv__:divide  __rmod__:mod".split():
    theirs, _, ours = theirs.partition(":")
    FUNCTIONS[theirs] = lambda p, x, y, *, ours=ours: p.call(ours, like(x, y), x)

FUNCTIONS["__rpow__"] = lambda p, x, y: p.call("pow", of_positive(like(x, y)), x)


def of_positive(base):
    only((getattr(base, "array", base) >= 0).all(), "the gradient by an exponent, which is 0 for a base below 0")
    return base


@row("float_power")
def float_power(p, x, y):
    only(x.dtype == numpy.float64, "operands of two dtypes")
    return p.call("pow", *both(x, y))

for theirs in "logical_and logical_or logical_xor".split():
    FUNCTIONS[theirs] = (lambda p, x, y, *, ours=theirs:
                         p.call(ours, p.call("cast_to_bool", x), p.call("cast_to_bool", y)))


@row("logical_not")
def logical_not(p, x):
    return p.call("logical_not", p.call("cast_to_bool", x))


def scaled(p, x, alpha, dtype):
    return x if alpha == 1 else p.call("multiply", x, numpy.asarray(alpha, dtype))


@row("add")
def add(p, x, y, *, alpha=1):
    x, y = both(x, y)
    return p.call("add", x, scaled(p, y, alpha, x.dtype))


@row("sub")
def sub(p, x, y, *, alpha=1):
    x, y = both(x, y)
    return p.call("subtract", x, scaled(p, y, alpha, x.dtype))


@row("rsub")
def rsub(p, x, y, alpha=1):
    return p.call("subtract", like(x, y), scaled(p, x, alpha, x.dtype))


@row("div/trunc_rounding")
def truncated_division(p, x, y, rounding_mode=None):
    return p.call("trunc", p.call("divide", *both(x, y)))


@row("lerp")
def lerp(p, x, y, weight):
    return p.call("add", x, p.call("multiply", like(x, weight), p.call("subtract", like(x, y), x)))


@row("addcmul")
def addcmul(p, x, a, b, *, value=1):
    return p.call("add", x, scaled(p, p.call("multiply", like(x, a), like(x, b)), value, x.dtype))


@row("addcdiv")
def addcdiv(p, x, a, b, *, value=1):
    return p.call("add", x, scaled(p, p.call("divide", like(x, a), like(x, b)), value, x.dtype))


@row("frac")
def frac(p, x):
    return p.call("subtract", x, p.call("trunc", x))


@row("nn.functional.tanhshrink")
def tanhshrink(p, x):
    return p.call("subtract", x, p.call("tanh", x))


@row("clamp", "nn.functional.hardtanh")
def clamp(p, x, min=None, max=None, *, min_val=-1, max_val=1, inplace=False):
    if min is None and max is None:
        min, max = min_val, max_val
    if min is None:
        return p.call("minimum", x, like(x, max))
    if max is None:
        return p.call("maximum", x, like(x, min))
    return p.call("clip_by_value", x, like(x, min), like(x, max))


@row("clamp_min")
def clamp_min(p, x, min):
    return p.call("maximum", x, like(x, min))


@row("clamp_max")
def clamp_max(p, x, max):
    return p.call("minimum", x, like(x, max))


@row("nn.functional.elu", "nn.functional.celu")
def elu(p, x, alpha=1.0, inplace=False):
    only(alpha == 1, "elu with another alpha than 1")
    return p.call("elu", x)


@row("nn.functional.leaky_relu")
def leaky_relu(p, x, negative_slope=0.01, inplace=False):
    return p.call("leaky_relu", x, like(x, negative_slope))


@row("nn.functional.prelu")
def prelu(p, x, weight):
    if weight.rank == 1 and x.rank > 1:
        return p.call("leaky_relu", x, p.call("Reshape", weight, shape=[-1] + [1] * (x.rank - 2)))
    only(weight.rank < 2 and (x.rank or not weight.rank), "prelu of a scalar by a vector")
    return p.call("leaky_relu", x, weight)


@row("nn.functional.gelu")
def gelu(p, x, *, approximate="none"):
    return p.call("gelu" if approximate == "none" else "gelu_by_tanh", x)


@row("nn.functional.softplus")
def softplus(p, x, beta=1, threshold=20):
    only(threshold >= 20 and (x.array * beta <= threshold).all(), "softplus that is cut off at a threshold")
    y = p.call("softplus", scaled(p, x, beta, x.dtype))
    return scaled(p, y, 1 / beta, x.dtype)


@row("nn.functional.glu")
def glu(p, x, dim=-1):
    node = p.call("Split", x, axis=axis_of(dim, x.rank), parts=2)
    return p.call("multiply", [node, 0], p.call("sigmoid", [node, 1]))


@row("nn.functional.hardshrink")
def hardshrink(p, x, lambd=0.5):
    return p.call("select", p.call("greater", p.call("abs", x), like(x, lambd)), x, like(x, 0))


@row("where")
def where(p, x, condition, y):
    return p.call("select", condition, *both(x, y))


@row("masked_fill")
def masked_fill(p, x, mask, value):
    return p.call("select", mask, like(x, value), x)


@row("nan_to_num")
def nan_to_num(p, x, nan=0, posinf=None, neginf=None):
    info = numpy.finfo(x.dtype)
    y = p.call("clip_by_value", x, like(x, info.min if neginf is None else neginf),
               like(x, info.max if posinf is None else posinf))
    only(posinf is None and neginf is None, "nan_to_num with other infinities")
    return p.call("select", p.call("is_nan", x), like(x, nan or 0), y)


for theirs in "float:float double:double int:int32 long:int64 bool:bool".split():
    theirs, _, ours = theirs.partition(":")
    FUNCTIONS[theirs] = lambda p, x, memory_format=None, *, ours=ours: p.call("cast_to_" + ours, x)


# ---- reductions

for theirs in "sum:Sum mean:Mean amax:Max amin:Min logsumexp:reduce_logsumexp".split():
    theirs, _, ours = theirs.partition(":")
    FUNCTIONS[theirs] = (lambda p, x, dim=None, keepdim=False, *, ours=ours:
                         p.call(ours, x, **axes_of(dim, x.rank), keep_dims=keepdim))

for theirs in "all:All any:Any".split():
    theirs, _, ours = theirs.partition(":")
    FUNCTIONS[theirs] = (lambda p, x, dim=None, keepdim=False, *, ours=ours:
                         p.call(ours, p.call("cast_to_bool", x), **axes_of(dim, x.rank), keep_dims=keepdim))


@row("prod")
def prod(p, x, dim=None, keepdim=False):
    return p.call("Prod", x, **axes_of(dim, x.rank), keep_dims=keepdim)


@row("nansum")
def nansum(p, x, dim=None, keepdim=False):
    y = p.call("select", p.call("is_nan", x), like(x, 0), x)
    return p.call("Sum", y, **axes_of(dim, x.rank), keep_dims=keepdim)


@row("count_nonzero")
def count_nonzero(p, x, dim=None):
    return p.call("count_nonzero", x, **axes_of(dim, x.rank))


@row("aminmax")
def aminmax(p, x, *, dim=None, keepdim=False):
    return [p.call(f, x, **axes_of(dim, x.rank), keep_dims=keepdim) for f in ("Min", "Max")]


def place(p, x, function, dim, keepdim):
    only(x.rank, "ArgMax of a scalar")
    if dim is None:
        only(not keepdim, "argmax of all axes, which stay")
        return p.call(function, p.call("Reshape", x, shape=[-1]), axis=0)
    y = p.call(function, x, axis=axis_of(dim, x.rank))
    return p.call("ExpandDims", y, axis=axis_of(dim, x.rank)) if keepdim else y


@row("argmax")
def argmax(p, x, dim=None, keepdim=False):
    return place(p, x, "ArgMax", dim, keepdim)


@row("argmin")
def argmin(p, x, dim=None, keepdim=False):
    return place(p, x, "ArgMin", dim, keepdim)


@row("max/reduction_no_dim")
def greatest(p, x):
    return p.call("Max", x)


@row("min/reduction_no_dim")
def least(p, x):
    return p.call("Min", x)


@row("var", "var/unbiased")
def var(p, x, dim=None, unbiased=None, *, correction=None, keepdim=False):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    axes = axes_of(dim, x.rank)
    n, lost = size(x, axes), 1 if correction is None else correction
    lost = int(unbiased) if unbiased is not None else lost
    only(n > lost, "a variance of too few numbers")
    return scaled(p, p.call("reduce_variance", x, **axes, keep_dims=keepdim), n / (n - lost), x.dtype)


@row("std", "std/unbiased")
def std(p, x, *args, **options):
    return p.call("sqrt", var(p, x, *args, **options))


@row("var_mean", "var_mean/unbiased")
def var_mean(p, x, dim=None, *args, **options):
    mean = p.call("Mean", x, **axes_of(None if isinstance(dim, bool) else dim, x.rank),
                  keep_dims=options.get("keepdim", False))
    return [var(p, x, dim, *args, **options), mean]


@row("linalg.vector_norm")
def vector_norm(p, x, ord=2, dim=None, keepdim=False):
    only(ord in (1, 2, math.inf), "a norm of an order that is not 1, 2 or infinity")
    return p.call("norm", x, ord="infinity" if ord == math.inf else ord, **axes_of(dim, x.rank), keep_dims=keepdim)


# ---- products

@row("mm", "bmm", "matmul", "__rmatmul__", "mv", "dot", "inner")
def matmul(p, a, b):
    only(a.rank and b.rank, "a product of scalars")
    left = a if a.rank > 1 else p.call("ExpandDims", a, axis=0)
    right = b if b.rank > 1 else p.call("ExpandDims", b, axis=1)
    y = p.call("matmul", left, right)
    gone = ([-2] if a.rank == 1 else []) + ([-1] if b.rank == 1 else [])
    return p.call("Squeeze", y, axes=gone) if gone else y


FUNCTIONS["__rmatmul__"] = lambda p, a, b: matmul(p, b, a)


@row("inner")
def inner(p, a, b):
    only(a.rank and b.rank, "a product of scalars")
    letters = "abcdefghijklmn"
    one, other = letters[:a.rank - 1], letters[a.rank - 1:a.rank + b.rank - 2]
    return p.call("einsum", a, b, equation=f"{one}z,{other}z->{one}{other}")


@row("outer")
def outer(p, a, b):
    return p.call("einsum", a, b, equation="i,j->ij")


@row("trace")
def trace(p, x):
    return p.call("einsum", x, equation="ii->") if x.shape[0] == x.shape[1] else left_out("a trace of no square")


def left_out(reason):
    raise LeftOut(reason)


def added(p, x, product, beta, alpha):
    product = scaled(p, product, alpha, x.dtype)
    return p.call("add", scaled(p, x, beta, x.dtype), product) if beta else product


@row("addmm", "baddbmm", "addmm/decomposed")
def addmm(p, x, a, b, *, beta=1, alpha=1):
    return added(p, x, p.call("matmul", a, b), beta, alpha)


@row("addmv")
def addmv(p, x, a, b, *, beta=1, alpha=1):
    return added(p, x, matmul(p, a, b), beta, alpha)


@row("addr")
def addr(p, x, a, b, *, beta=1, alpha=1):
    return added(p, x, outer(p, a, b), beta, alpha)


@row("addbmm")
def addbmm(p, x, a, b, *, beta=1, alpha=1):
    return added(p, x, p.call("einsum", a, b, equation="bij,bjk->ik"), beta, alpha)


@row("einsum")
def einsum(p, operands, equation, *more):
    only(isinstance(equation, str), "an equation in numbers")
    return p.call("einsum", *(operands if isinstance(operands, (list, tuple)) else [operands]), *more,
                  equation=equation.replace(" ", ""))


@row("nn.functional.linear")
def linear(p, x, weight, bias=None):
    only(weight.rank == 2, "linear by a vector")
    y = p.call("einsum", x, weight, equation="...i,oi->...o")
    return y if bias is None else p.call("add", y, bias)


@row("nn.functional.bilinear")
def bilinear(p, x, y, weight, bias=None):
    z = p.call("einsum", x, weight, y, equation="...i,oij,...j->...o")
    return z if bias is None else p.call("add", z, bias)


@row("linalg.multi_dot")
def multi_dot(p, matrices):
    only(all(m.rank == 2 for m in matrices), "products of vectors")
    y = matrices[0]
    for m in matrices[1:]:
        y = p.call("matmul", y, m)
    return y


@row("linalg.vecdot")
def vecdot(p, x, y, *, dim=-1):
    only(dim == -1 or x.rank == y.rank, "vecdot along an axis of another place")
    return p.call("Sum", p.call("multiply", x, y), axes=[dim])
