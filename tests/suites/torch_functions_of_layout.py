"""Functions of torch that move elements, look them up, or put them in order."""

import numpy

from torch_functions import Tensor, axis_of, like, only, row


def numbers(sizes):
    """The sizes of f(x, 2, 3) and of f(x, (2, 3))."""
    return list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else list(sizes)


# ---- reshaping

@row("reshape", "view")
def reshape(p, x, *shape):
    return p.call("Reshape", x, shape=numbers(shape))


@row("reshape_as", "view_as")
def reshape_as(p, x, y):
    return p.call("Reshape", x, shape=list(y.shape))


@row("flatten")
def flatten(p, x, start_dim=0, end_dim=-1):
    if x.rank == 0:
        return p.call("Reshape", x, shape=[1])
    first, last = axis_of(start_dim, x.rank), axis_of(end_dim, x.rank)
    merged = int(numpy.prod(x.shape[first:last + 1]))
    return p.call("Reshape", x, shape=[*x.shape[:first], merged, *x.shape[last + 1:]])


@row("ravel")
def ravel(p, x):
    return p.call("Reshape", x, shape=[-1])


@row("unflatten")
def unflatten(p, x, dim, sizes):
    axis = axis_of(dim, x.rank)
    sizes = list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[axis] // -int(numpy.prod(sizes))
    return p.call("Reshape", x, shape=[*x.shape[:axis], *sizes, *x.shape[axis + 1:]])


@row("squeeze", "squeeze/multiple")
def squeeze(p, x, dim=None):
    dims = range(x.rank) if dim is None else [dim] if isinstance(dim, int) else dim
    ones = sorted({axis_of(d, x.rank) for d in dims if x.rank and x.shape[axis_of(d, x.rank)] == 1})
    return p.call("Squeeze", x, axes=ones)


@row("unsqueeze")
def unsqueeze(p, x, dim):
    return p.call("ExpandDims", x, axis=dim)


@row("atleast_1d")
def atleast_1d(p, *all):
    only(len(all) == 1 and isinstance(all[0], Tensor), "several tensors at once")
    return p.call("Reshape", all[0], shape=[1]) if all[0].rank == 0 else p.call("Identity", all[0])


# ---- transposing

@row("permute")
def permute(p, x, *dims):
    return p.call("Transpose", x, perm=[axis_of(d, x.rank) for d in numbers(dims)])


@row("transpose")
def transpose(p, x, dim0, dim1):
    perm = list(range(x.rank))
    if perm:
        a, b = axis_of(dim0, x.rank), axis_of(dim1, x.rank)
        perm[a], perm[b] = perm[b], perm[a]
    return p.call("Transpose", x, perm=perm)


@row("t", "T", "mT", "H", "mH")
def transposed(p, x):
    return transpose(p, x, -2, -1) if x.rank > 1 else p.call("Identity", x)


@row("movedim")
def movedim(p, x, source, destination):
    lists = [[d] if isinstance(d, int) else list(d) for d in (source, destination)]
    return p.call("Transpose", x, perm=moved(x.rank, *lists))


def moved(rank, source, destination):
    """The permutation that takes the axes of `source` to `destination`."""
    perm = [i for i in range(rank) if i not in [axis_of(d, rank) for d in source]]
    for to, axis in sorted((axis_of(t, rank), axis_of(s, rank)) for s, t in zip(source, destination)):
        perm.insert(to, axis)
    return perm


@row("flip")
def flip(p, x, *dims):
    return p.call("ReverseV2", x, axes=[axis_of(d, x.rank) for d in numbers(dims)] if x.rank else [])


@row("fliplr")
def fliplr(p, x):
    return p.call("ReverseV2", x, axes=[1])


@row("flipud")
def flipud(p, x):
    return p.call("ReverseV2", x, axes=[0])


@row("roll")
def roll(p, x, shifts, dims=()):
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if dims:
        return p.call("Roll", x, shifts=shifts, axes=[axis_of(d, x.rank) for d in dims])
    flat = p.call("Roll", p.call("Reshape", x, shape=[-1]), shifts=shifts, axes=[0])
    return p.call("Reshape", flat, shape=list(x.shape))


# ---- repeating

@row("tile", "repeat")
def repeat(p, x, *dims):
    dims = numbers(dims)
    rank = max(x.rank, len(dims))
    y = p.call("Reshape", x, shape=[1] * (rank - x.rank) + list(x.shape))
    return p.call("Tile", y, multiples=[1] * (rank - len(dims)) + dims)


@row("repeat_interleave")
def repeat_interleave(p, x, repeats, dim=None):
    if isinstance(repeats, Tensor):
        only(repeats.array.size == 1, "repeat by a number for each element")
        repeats = int(repeats.array.reshape(()))
    if dim is None:
        return p.call("repeat", x, times=repeats)
    only(x.rank, "repeat of a scalar along an axis")
    return p.call("repeat", x, times=repeats, axis=axis_of(dim, x.rank))


@row("expand", "broadcast_to")
def expand(p, x, *shape):
    shape = numbers(shape)
    kept = [1] * (len(shape) - x.rank) + list(x.shape)
    return p.call("BroadcastTo", x, shape=[k if n == -1 else n for n, k in zip(shape, kept)])


@row("expand_as")
def expand_as(p, x, y):
    return p.call("BroadcastTo", x, shape=list(y.shape))


@row("constant_pad_nd", "nn.functional.pad/constant", "nn.functional.pad/reflect")
def pad(p, x, pad, value=0, *, mode="constant"):
    value, mode = (0, value) if isinstance(value, str) else (value, mode)
    only(all(n >= 0 for n in pad), "padding by less than nothing")
    around = [[0, 0]] * (x.rank - len(pad) // 2) + [list(pad[i:i + 2]) for i in range(len(pad) - 2, -1, -2)]
    return p.call("pad", x, around=around, mode=mode, **({"value": value or 0} if mode == "constant" else {}))


# ---- joining and parting

@row("cat")
def cat(p, parts, dim=0):
    parts = [x for x in parts if x.shape != (0,) or all(y.shape == (0,) for y in parts)]  # torch ignores these
    only(len({x.dtype for x in parts}) == 1, "operands of two dtypes")
    return p.call("ConcatV2", *parts, axis=dim)


@row("stack")
def stack(p, parts, dim=0):
    return p.call("stack", *parts, axis=dim)


@row("hstack")
def hstack(p, parts):
    only(all(x.rank for x in parts), "hstack of scalars")
    return p.call("ConcatV2", *parts, axis=0 if parts[0].rank == 1 else 1)


def pieces(p, x, sizes, axis):
    """Slices of these sizes, one behind the other."""
    ends, at = [], 0
    for n in sizes:
        begin, size = [0] * x.rank, list(x.shape)
        begin[axis], size[axis] = at, n
        ends.append(p.call("Slice", x, begin=begin, size=size))
        at += n
    return ends


def parts_of(n, size):
    return [min(size, n - at) for at in range(0, n, size)] or [0]


@row("split", "split/list_args", "split_with_sizes", "unsafe_split")
def split(p, x, sizes, dim=0):
    axis = axis_of(dim, x.rank)
    if isinstance(sizes, int):
        n = x.shape[axis]
        if sizes and n and n % sizes == 0:
            node = p.call("Split", x, axis=axis, parts=n // sizes)
            return [[node, i] for i in range(n // sizes)]
        sizes = parts_of(n, sizes)
    return pieces(p, x, list(sizes), axis)


@row("chunk", "unsafe_chunk")
def chunk(p, x, chunks, dim=0):
    axis = axis_of(dim, x.rank)
    return pieces(p, x, parts_of(x.shape[axis], max(-(-x.shape[axis] // chunks), 1)), axis)


@row("unbind")
def unbind(p, x, dim=0):
    axis = axis_of(dim, x.rank)
    return [select(p, x, axis, i) for i in range(x.shape[axis])]


@row("select")
def select(p, x, dim, index):
    return p.call("Squeeze", narrow(p, x, dim, index, 1), axes=[axis_of(dim, x.rank)])


@row("narrow")
def narrow(p, x, dim, start, length):
    axis = axis_of(dim, x.rank)
    if isinstance(start, Tensor):
        start = int(start.array)
    begin, size = [0] * x.rank, list(x.shape)
    begin[axis], size[axis] = start % max(x.shape[axis], 1) if start < 0 else start, length
    return p.call("Slice", x, begin=begin, size=size)


def strided(p, x, indices):
    """x[indices], for whole numbers, slices, None and ..., by StridedSlice."""
    begin, end, strides, masks = [], [], [], dict.fromkeys(
        ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, index in enumerate(indices):
        b, e, s = 0, 0, 1
        if index is None:
            masks["new_axis_mask"] |= 1 << i
        elif index is Ellipsis:
            masks["ellipsis_mask"] |= 1 << i
        elif isinstance(index, slice):
            masks["begin_mask"] |= (index.start is None) << i
            masks["end_mask"] |= (index.stop is None) << i
            b, e, s = index.start or 0, index.stop or 0, index.step or 1
        else:
            only(isinstance(index, int) and not isinstance(index, bool), "indices that are lists or masks")
            masks["shrink_axis_mask"] |= 1 << i
            b, e = index, index + 1
        begin, end, strides = begin + [b], end + [e], strides + [s]
    return p.call("StridedSlice", x, begin=begin, end=end, strides=strides, **masks)


@row("__getitem__")
def get_item(p, x, indices):
    return strided(p, x, indices if isinstance(indices, tuple) else (indices,))


@row("slice")
def slice_of(p, x, dim=0, start=None, end=None, step=1):
    return strided(p, x, [slice(None)] * axis_of(dim, x.rank) + [slice(start, end, step)])


@row("diff")
def diff(p, x, n=1, dim=-1, prepend=None, append=None):
    only(prepend is None and append is None and x.rank, "diff of joined tensors")
    axis, length = axis_of(dim, x.rank), x.shape[axis_of(dim, x.rank)]
    only(n <= length, "more differences than elements")
    before, y = [slice(None)] * axis, x
    for _ in range(n):
        y = p.call("subtract", strided(p, y, [*before, slice(1, None)]), strided(p, y, [*before, slice(None, -1)]))
    return y if n else p.call("Identity", x)


# ---- matrices

@row("tril")
def tril(p, x, diagonal=0):
    return p.call("tril", x, k=diagonal)


@row("triu")
def triu(p, x, diagonal=0):
    return p.call("triu", x, k=diagonal)


@row("diagonal", "linalg.diagonal")
def diagonal(p, x, offset=0, dim1=None, dim2=None, *, dim_1=0, dim_2=1):
    only(x.rank == 2 and offset == 0 and x.shape[0] == x.shape[1], "diagonals beside the first, or of no square")
    return p.call("Einsum", x, equation="ii->i")


# ---- in order

def indices_of(p, x, dim, descending):
    return p.call("ArgSort", x, axis=axis_of(dim, x.rank), descending=descending)


@row("sort")
def sort(p, x, dim=-1, descending=False, stable=False):
    only(x.rank, "a scalar in order")
    return [p.call("Sort", x, axis=axis_of(dim, x.rank), descending=descending), indices_of(p, x, dim, descending)]


@row("argsort")
def argsort(p, x, dim=-1, descending=False, stable=False):
    only(x.rank, "a scalar in order")
    return indices_of(p, x, dim, descending)


@row("msort")
def msort(p, x):
    only(x.rank, "a scalar in order")
    return p.call("Sort", x, axis=0)


@row("topk")
def topk(p, x, k, dim=-1, largest=True, sorted=True):
    only(x.rank, "a scalar in order")
    only(sorted, "the k greatest in any order")
    axis, last = axis_of(dim, x.rank), x.rank - 1
    y = x if largest else p.call("negative", x)
    y = p.call("TopKV2", transpose_nodes(p, y, x.rank, axis, last), k=k)
    values, places = (transpose_nodes(p, [y, i], x.rank, axis, last) for i in (0, 1))
    return [values if largest else p.call("negative", values), places]


def transpose_nodes(p, end, rank, a, b):
    perm = list(range(rank))
    perm[a], perm[b] = perm[b], perm[a]
    return end if a == b else p.call("Transpose", end, perm=perm)


@row("cumsum")
def cumsum(p, x, dim):
    only(x.rank, "a scalar in order")
    return p.call("Cumsum", x, axis=axis_of(dim, x.rank))


@row("cumprod")
def cumprod(p, x, dim):
    only(x.rank, "a scalar in order")
    return p.call("Cumprod", x, axis=axis_of(dim, x.rank))


def searched(p, sorted, values, right):
    """searchsorted, whose lines broadcast to those of the values where there is one."""
    if not isinstance(values, Tensor):
        values = like(sorted, values)
    shape = list(values.shape)
    if sorted.rank > 1:
        return p.call("searchsorted", sorted, values, right=right)
    places = p.call("searchsorted", sorted, p.call("Reshape", values, shape=[-1]), right=right)
    return p.call("Reshape", places, shape=shape)


@row("searchsorted")
def searchsorted(p, sorted, values, *, side=None, right=False, sorter=None, out_int32=False):
    if sorter is not None:
        only(sorted.rank, "a scalar in order")
        sorted = Tensor(p.call("TakeAlongAxis", sorted, sorter, axis=sorted.rank - 1), sorted.array)
    return searched(p, sorted, values, right or side == "right")


@row("bucketize")
def bucketize(p, values, boundaries, *, right=False, out_int32=False):
    return searched(p, boundaries, values, right)


# ---- by index

@row("gather")
def gather(p, x, dim, index, sparse_grad=False):
    axis = axis_of(dim, x.rank)
    only(x.rank and index.rank == x.rank, "indices of another rank")
    only(index.dtype.kind == "i", "indices of another dtype")
    only(all(n == m for i, (n, m) in enumerate(zip(x.shape, index.shape)) if i != axis), "indices of fewer rows")
    return p.call("TakeAlongAxis", x, index, axis=axis)


@row("take_along_dim")
def take_along_dim(p, x, indices, dim=None):
    only((indices.array >= 0).all(), "indices that count from the end")
    if dim is None:
        flat = p.call("Reshape", x, shape=[-1])
        return p.call("TakeAlongAxis", flat, p.call("Reshape", indices, shape=[-1]), axis=0)
    axis = axis_of(dim, x.rank)
    only(all(n == m for i, (n, m) in enumerate(zip(x.shape, indices.shape)) if i != axis), "indices of fewer rows")
    return p.call("TakeAlongAxis", x, indices, axis=axis)


@row("index_select")
def index_select(p, x, dim, index):
    only(x.rank and index.rank, "an index of a scalar")
    return p.call("Gather", x, index, axis=axis_of(dim, x.rank))


@row("take")
def take(p, x, index):
    n = max(x.array.size, 1)
    return p.call("Gather", p.call("Reshape", x, shape=[-1]), index.array % n, axis=0)


@row("masked_select")
def masked_select(p, x, mask):
    shape = list(numpy.broadcast_shapes(x.shape, mask.shape))
    x, mask = (p.call("BroadcastTo", y, shape=shape) for y in (x, mask))
    only(shape, "boolean_mask of a scalar")
    return p.call("boolean_mask", x, mask)


@row("nonzero", "argwhere")
def nonzero(p, x, *, as_tuple=False):
    only(not as_tuple, "nonzero as a tuple")
    only(x.rank, "Where of a scalar")
    return p.call("Where", p.call("cast_to_bool", x))


@row("unique")
def unique(p, x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    only(dim is None, "unique rows")
    return p.call("Sort", p.call("Unique", p.call("Reshape", x, shape=[-1])), axis=0)


@row("scatter_add")
def scatter_add(p, x, dim, index, src):
    only(x.rank and isinstance(src, Tensor), "scatter_add of a scalar")
    axis = axis_of(dim, x.rank)
    only(src.shape == index.shape, "more sources than indices")
    only(all(n == m for i, (n, m) in enumerate(zip(x.shape, index.shape)) if i != axis), "indices of fewer rows")
    return p.call("add", x, p.call("AddAlongAxis", index, src, x, axis=axis))


@row("index_add")
def index_add(p, x, dim, index, source, *, alpha=1):
    only(x.rank and x.rank == source.rank and index.rank == 1, "index_add of a scalar")
    axis = axis_of(dim, x.rank)
    front = [axis, *(i for i in range(x.rank) if i != axis)]
    rows = p.call("Transpose", source, perm=front)
    where = p.call("Reshape", index, shape=[index.array.size, 1])
    sums = p.call("ScatterNd", where, rows, shape=[x.shape[i] for i in front])
    sums = p.call("Transpose", sums, perm=[int(i) for i in numpy.argsort(front)])
    return p.call("add", x, p.call("multiply", sums, like(x, alpha)))
