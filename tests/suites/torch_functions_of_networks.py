"""Functions of torch that networks are made of. Channels stand behind the batch there, and last in pinion."""

import functools

import numpy

from torch_functions import Tensor, like, only, row, scaled
from torch_functions_of_layout import moved


def last(p, x, rank):
    """With the channels last."""
    return p.call("Transpose", x, perm=moved(rank, [1], [rank - 1]))


def second(p, x, rank):
    """With the channels behind the batch."""
    return p.call("Transpose", x, perm=moved(rank, [rank - 1], [1]))


def of_batches(rank=None):
    """A function of images in a batch, made one of single images as well; the rank is that of a weight if not given."""
    def changed(f):
        @functools.wraps(f)
        def of_any(p, x, *rest, **options):
            batch_rank = rank or rest[0].rank
            if x.rank == batch_rank:
                return f(p, x, *rest, **options)
            only(x.rank == batch_rank - 1, "images of another rank")
            one = Tensor(p.call("ExpandDims", x, axis=0), x.array[None])
            return p.call("Squeeze", f(p, one, *rest, **options), axes=[0])
        return of_any
    return changed


def each(n, count):
    """A number for each axis of space."""
    return [n] * count if isinstance(n, int) else list(n) * (count if len(n) == 1 else 1)


# ---- convolution

@row("nn.functional.conv1d", "nn.functional.conv2d")
@of_batches()
def convolution(p, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    space = weight.rank - 2
    strides, dilations = each(stride, space), each(dilation, space)
    images = last(p, x, x.rank)
    if padding == "same":
        only(all(d * (n - 1) % 2 == 0 for d, n in zip(dilations, weight.shape[2:])), "an odd padding")
    elif padding != "valid":
        around = [[0, 0], *([n, n] for n in each(padding, space)), [0, 0]]
        images = p.call("pad", images, around=around)
    filters = p.call("Transpose", weight, perm=[*range(2, weight.rank), 1, 0])
    options = {"padding": "SAME" if padding == "same" else "VALID", "groups": groups}
    if space == 1:
        y = p.call("conv1d", images, filters, stride=strides[0], dilation=dilations[0], **options)
    else:
        y = p.call("conv2d", images, filters, strides=strides, dilations=dilations, **options)
    return second(p, y if bias is None else p.call("bias_add", y, bias), x.rank)


@row("nn.functional.conv_transpose2d")
@of_batches(4)
def transposed_convolution(p, x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    only(groups == 1, "a transposed convolution in groups")
    strides, dilations, cut, more = (each(n, 2) for n in (stride, dilation, padding, output_padding))
    whole = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(x.shape[2:], strides, weight.shape[2:], dilations)]
    sizes = [w + max(m - c, 0) for w, m, c in zip(whole, more, cut)]
    only(all(w <= n < w + s for n, s, w in zip(sizes, strides, whole)), "a transposed convolution of a larger image")
    y = p.call("conv2d_transpose", last(p, x, 4), p.call("Transpose", weight, perm=[2, 3, 1, 0]), strides=strides,
               dilations=dilations, sizes=sizes)
    kept = [w - 2 * c + m for w, c, m in zip(whole, cut, more)]
    y = p.call("Slice", y, begin=[0, *cut, 0], size=[x.shape[0], *kept, weight.shape[1]])
    return second(p, y if bias is None else p.call("bias_add", y, bias), 4)


def pooled(p, op, x, kernel_size, stride, padding, ceil_mode, filling):
    space = 2 if op.endswith("2d") else 1
    window, pads = each(kernel_size, space), each(padding, space)
    strides = each(stride, space) if stride not in (None, []) and stride != () else window
    only(not (ceil_mode and any(pads)), "windows that reach beyond a padding")
    images = last(p, x, x.rank)
    if any(pads):
        images = p.call("pad", images, around=[[0, 0], *([n, n] for n in pads), [0, 0]], value=filling)
    one = [1] * (2 - space)  # an axis of height
    images = images if space == 2 else p.call("ExpandDims", images, axis=1)
    name = "MaxPool" if op.startswith("max") else "AvgPool"
    y = p.call(name, images, window=one + window, strides=one + strides, padding="VALID", ceil_mode=ceil_mode)
    return second(p, y if space == 2 else p.call("Squeeze", y, axes=[1]), x.rank)


def max_pool(name):
    def pool(p, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        only(set(each(dilation, 2)) == {1}, "dilated windows")
        return pooled(p, name, x, kernel_size, stride, padding, ceil_mode, float(numpy.finfo(x.dtype).min))
    return pool


def avg_pool(name):
    def pool(p, x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
             divisor_override=None):
        only(divisor_override is None, "means by another divisor")
        only(count_include_pad or not any(each(padding, 2)), "means that a padding does not count in")
        return pooled(p, name, x, kernel_size, stride, padding, ceil_mode, 0.0)
    return pool


row("nn.functional.max_pool1d")(of_batches(3)(max_pool("max_pool1d")))
row("nn.functional.max_pool2d")(of_batches(4)(max_pool("max_pool2d")))
row("nn.functional.avg_pool1d")(of_batches(3)(avg_pool("avg_pool1d")))
row("nn.functional.avg_pool2d")(of_batches(4)(avg_pool("avg_pool2d")))


@row("nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(p, x, output_size):
    only(x.rank == 4 and each(output_size, 2) == [1, 1], "adaptive windows")
    return p.call("Mean", x, axes=[2, 3], keep_dims=True)


def resized(p, op, x, size, scale_factor, **options):
    only(x.rank == 4, "images of another rank")
    only(size is not None and scale_factor is None, "resizing by a factor")
    return second(p, p.call(op, last(p, x, 4), size=each(size, 2), **options), 4)


@row("nn.functional.interpolate/bilinear")
def bilinear(p, x, size=None, scale_factor=None, mode="bilinear", align_corners=None, recompute_scale_factor=None,
             antialias=False):
    only(not antialias, "a resizing that averages")
    return resized(p, "ResizeBilinear", x, size, scale_factor,
                   **({"align_corners": True} if align_corners else {"half_pixel_centers": True}))


@row("nn.functional.upsample_bilinear")
def upsample_bilinear(p, x, size=None, scale_factor=None):
    return resized(p, "ResizeBilinear", x, size, scale_factor, align_corners=True)


@row("nn.functional.interpolate/nearest", "nn.functional.upsample_nearest")
def nearest(p, x, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return resized(p, "ResizeNearestNeighbor", x, size, scale_factor)


# ---- normalization

@row("nn.functional.layer_norm")
def layer_norm(p, x, normalized_shape, weight=None, bias=None, eps=1e-5):
    ones = numpy.ones(normalized_shape, x.dtype)
    return p.call("LayerNorm", x, ones if weight is None else weight, 0 * ones if bias is None else bias, epsilon=eps)


@row("nn.functional.rms_norm")
def rms_norm(p, x, normalized_shape, weight=None, eps=None):
    ones = numpy.ones(normalized_shape, x.dtype)
    return p.call("RmsNorm", x, ones if weight is None else weight,
                  epsilon=float(numpy.finfo(x.dtype).eps) if eps is None else eps)


@row("nn.functional.group_norm")
def group_norm(p, x, num_groups, weight=None, bias=None, eps=1e-5):
    ones = numpy.ones(x.shape[1], x.dtype)
    y = p.call("group_norm", last(p, x, x.rank), ones if weight is None else weight,
               0 * ones if bias is None else bias, groups=num_groups, epsilon=eps)
    return second(p, y, x.rank)


@row("nn.functional.instance_norm")
def instance_norm(p, x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5):
    only(use_input_stats, "statistics of other images")
    ones = numpy.ones(x.shape[1], x.dtype)
    y = p.call("instance_norm", last(p, x, x.rank), ones if weight is None else weight,
               0 * ones if bias is None else bias, epsilon=eps)
    return second(p, y, x.rank)


@row("nn.functional.normalize")
def normalize(p, x, p_=2.0, dim=1, eps=1e-12, **options):
    only(options.get("p", p_) == 2 and isinstance(dim, int) and x.rank, "a norm of another order")
    return p.call("l2_normalize", x, axes=[dim], epsilon=eps * eps)


@row("nn.functional.cosine_similarity")
def cosine_similarity(p, x, y, dim=1, eps=1e-8):
    only(x.rank, "directions of scalars")
    shape = list(numpy.broadcast_shapes(x.shape, y.shape))  # torch broadcasts before it takes lengths
    return p.call("cosine_similarity", *(p.call("BroadcastTo", z, shape=shape) for z in (x, y)), axis=dim)


# ---- softmax and losses

def along(p, x, dim, function):
    """function(node) with the axis last."""
    if x.rank == 0:
        return p.call("Reshape", function(p.call("Reshape", x, shape=[1])), shape=[])
    perm = list(range(x.rank))
    perm[dim], perm[-1] = perm[-1], perm[dim]
    return p.call("Transpose", function(p.call("Transpose", x, perm=perm)), perm=perm)


@row("softmax")
def softmax(p, x, dim, dtype=None, _stacklevel=3):
    only(dtype is None, "softmax to another dtype")
    return along(p, x, dim, lambda y: p.call("Softmax", y))


@row("log_softmax")
def log_softmax(p, x, dim, dtype=None, _stacklevel=3):
    only(dtype is None, "softmax to another dtype")
    return along(p, x, dim, lambda y: p.call("LogSoftmax", y))


@row("nn.functional.softmin")
def softmin(p, x, dim, dtype=None, _stacklevel=3):
    only(dtype is None, "softmax to another dtype")
    return along(p, x, dim, lambda y: p.call("Softmax", p.call("negative", y)))


def reduced(p, losses, reduction):
    return losses if reduction == "none" else p.call("Mean" if reduction == "mean" else "Sum", losses)


@row("nn.functional.cross_entropy")
def cross_entropy(p, x, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    only(weight is None and not label_smoothing, "a cross entropy with weights or smooth labels")
    classes = x.shape[0 if x.rank == 1 else 1]
    rows = x if x.rank == 1 else last(p, x, x.rank)
    rows = p.call("Reshape", rows, shape=[-1, classes])
    extents = [1, *x.shape[2:]] if x.rank == 1 else [x.shape[0], *x.shape[2:]]
    if target.dtype == x.dtype:
        whole = target.array.sum(axis=0 if x.rank == 1 else 1)
        only(numpy.allclose(whole, 1), "labels that are no distribution, of which the gradient is not specified")
        labels = target if x.rank == 1 else last(p, target, x.rank)
        labels = p.call("Reshape", labels, shape=[-1, classes])
        losses = [p.call("SoftmaxCrossEntropyWithLogits", labels, rows), 0]
    else:
        only((target.array != ignore_index).all(), "labels that do not count")
        losses = [p.call("SparseSoftmaxCrossEntropyWithLogits", p.call("Reshape", target, shape=[-1]), rows), 0]
    if reduction != "none":
        return reduced(p, losses, reduction)
    return p.call("Reshape", losses, shape=[] if x.rank == 1 else extents)


@row("nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(p, x, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    only(pos_weight is None, "losses with weights of positives")
    losses = p.call("sigmoid_cross_entropy_with_logits", like(x, target), x)
    return reduced(p, losses if weight is None else p.call("multiply", losses, weight), reduction)


@row("nn.functional.mse_loss")
def mse_loss(p, x, target, size_average=None, reduce=None, reduction="mean", weight=None):
    only(weight is None, "losses with weights")
    return reduced(p, p.call("squared_difference", x, like(x, target)), reduction)


@row("nn.functional.l1_loss")
def l1_loss(p, x, target, size_average=None, reduce=None, reduction="mean", weight=None):
    only(weight is None, "losses with weights")
    return reduced(p, p.call("abs", p.call("subtract", x, like(x, target))), reduction)


@row("nn.functional.huber_loss")
def huber_loss(p, x, target, reduction="mean", delta=1.0, weight=None):
    only(weight is None, "losses with weights")
    return reduced(p, p.call("huber", p.call("subtract", x, like(x, target)), like(x, delta)), reduction)


@row("nn.functional.smooth_l1_loss")
def smooth_l1_loss(p, x, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    only(beta > 0, "a smooth loss without a smooth part")
    losses = p.call("huber", p.call("subtract", x, like(x, target)), like(x, beta))
    return reduced(p, scaled(p, losses, 1 / beta, x.dtype), reduction)


@row("nn.functional.nll_loss")
def nll_loss(p, x, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    only(weight is None and (target.array != ignore_index).all(), "a likelihood with weights")
    only(x.rank == 2, "a likelihood of images")
    taken = p.call("TakeAlongAxis", x, p.call("ExpandDims", target, axis=1), axis=1)
    return reduced(p, p.call("negative", p.call("Squeeze", taken, axes=[1])), reduction)


# ---- words and attention

@row("nn.functional.embedding")
def embedding(p, weight, indices, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
              sparse=False):
    only(max_norm is None and not scale_grad_by_freq and padding_idx is None, "an embedding that changes its weights")
    return p.call("Gather", weight, indices, axis=0)


@row("nn.functional.one_hot")
def one_hot(p, indices, num_classes=-1):
    only(num_classes > 0, "as many classes as there are")
    return p.call("OneHot", indices, depth=num_classes, dtype="int64")


@row("nn.functional.scaled_dot_product_attention")
def attention(p, q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    only(not dropout_p, "dropout")
    only(not is_causal or q.shape[-2] == k.shape[-2], "a causal mask that begins at the first query")
    only(q.rank == k.rank == v.rank and q.shape[:-3] == k.shape[:-3] == v.shape[:-3], "attention whose axes broadcast")
    options = {"causal": is_causal, **({} if scale is None else {"scale": scale})}
    return p.call("scaled_dot_product_attention", q, k, v, *([] if attn_mask is None else [attn_mask]), **options)


@row("nn.functional.pixel_shuffle")
def pixel_shuffle(p, x, upscale_factor):
    r = upscale_factor
    *front, c, h, w = x.shape
    only(len(front) <= 2, "images of another rank")
    n = len(front)
    y = p.call("Reshape", x, shape=[*front, c // (r * r), r, r, h, w])
    y = p.call("Transpose", y, perm=[*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return p.call("Reshape", y, shape=[*front, c // (r * r), h * r, w * r])
