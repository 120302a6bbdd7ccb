"""PyTorch on a GPU as a peer: torch_gpu_peer.py eager|graph ROWS SIZE... bench/peer.hpp tells how it speaks."""
import sys
import time

import torch
import torch.nn.functional as F

mode, rows, sizes = sys.argv[1], int(sys.argv[2]), [int(s) for s in sys.argv[3:]]
if not torch.cuda.is_available():
    sys.exit("PyTorch sees no GPU")
torch.manual_seed(1)
weights = [(torch.randn(i, o, device="cuda") * (2 / i) ** 0.5).requires_grad_() for i, o in zip(sizes, sizes[1:])]
biases = [torch.zeros(o, device="cuda", requires_grad=True) for o in sizes[1:]]
optimizer = torch.optim.SGD(weights + biases, lr=0.001, momentum=0.95)
images = (torch.arange(rows * sizes[0]) % 257 / 257).float().reshape(rows, sizes[0]).pin_memory()
labels = (torch.arange(rows) % 10).pin_memory()
x, y = images.cuda(), labels.cuda()


def step():
    h = x
    for i, (w, b) in enumerate(zip(weights, biases)):
        h = torch.addmm(b, h, w)
        if i + 1 < len(weights):
            h = F.elu(h)
    loss = F.cross_entropy(h, y)
    optimizer.zero_grad(set_to_none=mode == "eager")
    loss.backward()
    optimizer.step()
    return loss


if mode == "graph":
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static_loss = step()


def call():
    x.copy_(images, non_blocking=True)
    y.copy_(labels, non_blocking=True)
    if mode != "graph":
        return step().item()
    graph.replay()
    return static_loss.item()


print("ready PyTorch", torch.__version__, flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    for _ in range(int(line)):
        result = call()
    print(time.perf_counter() - start, result, flush=True)
