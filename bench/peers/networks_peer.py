"""PyTorch as a peer of bench/networks.cpp: networks_peer.py WORK THREADS. bench/peer.hpp tells how it speaks."""
import os
import sys
import time

import torch
import torch.nn.functional as F

made = 0


def operand(*shape, grad=False):
    """The numbers of the next operand, as bench/networks.cpp makes them."""
    global made
    n = torch.Size(shape).numel()
    t = ((torch.arange(n, dtype=torch.int64) * 7919 + made * 131) % 1009).float()
    made += 1
    t = ((t / 1009 - 0.5) * 0.2).reshape(shape)
    return t.requires_grad_() if grad else t


def attention(grad):
    x = operand(4, 512, 512)
    q, k, v = (operand(512, 8, 64, grad=grad) for _ in range(3))
    out = operand(8, 64, 512, grad=grad)

    def heads(w):
        return (x @ w.reshape(512, 512)).reshape(4, 512, 8, 64).transpose(1, 2)

    def layer():
        y = F.scaled_dot_product_attention(heads(q), heads(k), heads(v))
        return y.transpose(1, 2).reshape(4, 512, 512) @ out.reshape(512, 512)

    return layer, [q, k, v, out]


def lstm(grad):
    x, h, c = operand(64, 32, 256), operand(32, 256), operand(32, 256)
    weights = [operand(256, 1024), operand(256, 1024), operand(1024)]
    cell = torch.nn.LSTM(256, 256)
    with torch.no_grad():
        cell.weight_ih_l0.copy_(weights[0].T)
        cell.weight_hh_l0.copy_(weights[1].T)
        cell.bias_ih_l0.copy_(weights[2])
        cell.bias_hh_l0.zero_()
    cell.bias_hh_l0.requires_grad_(False)
    return lambda: cell(x, (h[None], c[None]))[0], [cell.weight_ih_l0, cell.weight_hh_l0, cell.bias_ih_l0]


def convolutions(grad):
    x = operand(128, 28, 28, 1).permute(0, 3, 1, 2)
    weights = []

    def weight(*shape):
        weights.append(operand(*shape, grad=grad))
        return weights[-1]

    filters = []
    for inside, outside in ((1, 32), (32, 64)):
        w = operand(3, 3, inside, outside).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        weights.append(w.requires_grad_(grad))
        filters.append((w, weight(outside)))
    w = operand(7 * 7 * 64, 128).reshape(7, 7, 64, 128).permute(2, 0, 1, 3).reshape(7 * 7 * 64, 128).contiguous()
    weights.append(w.requires_grad_(grad))
    b, v, c = weight(128), weight(128, 10), weight(10)

    def model():
        h = x
        for f, bias in filters:
            h = F.max_pool2d(F.relu(F.conv2d(h, f, bias, padding="same")), 2)
        return F.relu(h.reshape(128, -1) @ w + b) @ v + c

    return model, weights


def transformer(grad):
    x = operand(16, 64, 256)
    weights = []

    def weight(*shape):
        weights.append(operand(*shape, grad=grad))
        return weights[-1]

    layers = []
    for _ in range(6):
        first = [weight(256), weight(256)] + [weight(256, 8, 32) for _ in range(3)] + [weight(8, 32, 256)]
        second = [weight(*shape) for shape in ((256,), (256,), (256, 1024), (1024,), (1024, 256), (256,))]
        layers.append(first + second)

    def model():
        y = x
        for g, b, q, k, v, o, g2, b2, up, ub, down, db in layers:
            a = F.layer_norm(y, (256,), g, b)
            heads = [(a @ w.reshape(256, 256)).reshape(16, 64, 8, 32).transpose(1, 2) for w in (q, k, v)]
            h = F.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(16, 64, 256)
            y = y + h @ o.reshape(256, 256)
            a = F.layer_norm(y, (256,), g2, b2)
            y = y + F.linear(F.gelu(F.linear(a, up.T, ub)), down.T, db)
        return y

    return model, weights


def training(model):
    """Steps of Adam; with PINION_PEER_COMPILED set, of a compiled model."""
    model, weights = model(True)
    if "PINION_PEER_COMPILED" in os.environ:
        model = torch.compile(model)
    adam = torch.optim.Adam(weights, lr=0, fused=True)

    def step():
        adam.zero_grad(set_to_none=True)
        loss = model().square().mean()
        loss.backward()
        adam.step()
        return loss.detach()

    return step


def with_gradients(layer):
    y, weights = layer(True)

    def call():
        grads = torch.autograd.grad(y().sum(), weights)
        return sum(g.sum() for g in grads)

    return call


def rows(f, *shapes):
    operands = [operand(*s) for s in shapes]
    return lambda: f(*operands)


ids = torch.arange(16384) * 7919 % 16384
works = {
    "attention": lambda: attention(False)[0],
    "attention_gradient": lambda: with_gradients(attention),
    "lstm_gradient": lambda: with_gradients(lstm),
    "convolutions_training": lambda: training(convolutions),
    "transformer_training": lambda: training(transformer),
    "layer_norm": lambda: rows(lambda x, g, b: F.layer_norm(x, (512,), g, b), (2048, 512), (512,), (512,)),
    "softmax": lambda: rows(lambda x: F.softmax(x, -1), (2048, 512)),
    "gelu": lambda: rows(F.gelu, (2048, 512)),
    "top_k": lambda: rows(lambda x: x.topk(16).values, (1024, 1024)),
    "sort": lambda: rows(lambda x: x.sort(stable=True).values, (1024, 1024)),
    "cumsum": lambda: rows(lambda x: x.cumsum(1), (1024, 1024)),
    "gather": lambda: rows(lambda x: x.index_select(0, ids), (16384, 64)),
}

torch.set_num_threads(int(sys.argv[2]))
torch.set_num_interop_threads(1)
call = works[sys.argv[1]]()
with torch.set_grad_enabled(sys.argv[1].endswith(("gradient", "training"))):
    call()
    print("ready PyTorch", torch.__version__, flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            result = call()
        seconds = time.perf_counter() - start
        print(seconds, float(result.reshape(-1)[-1]), flush=True)
