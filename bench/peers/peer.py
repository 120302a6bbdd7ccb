"""The side of a peer in a contest: bench/peer.hpp tells how it speaks."""
import sys
import time

import numpy as np

SIZES = [784, 160, 160, 160, 160, 160, 10]


def serve(name, call):
    """Calls as often as each line says; prints seconds on the wall and the last result."""
    print("ready", name, flush=True)
    for line in sys.stdin:
        count = int(line)
        start = time.perf_counter()
        for _ in range(count):
            result = call()
        result = float(np.asarray(result).ravel()[0])
        print(time.perf_counter() - start, result, flush=True)


def mnist(rows, path):
    """The layers [(weights, biases)] and batches [(images, labels)] that bench/mnist_step.cpp wrote."""
    data = np.fromfile(path, dtype=np.float32)
    at = 0

    def take(*shape):
        nonlocal at
        at += (size := int(np.prod(shape)))
        return data[at - size : at].reshape(shape).copy()

    layers = [(take(i, o), take(o)) for i, o in zip(SIZES, SIZES[1:])]
    batches = []
    while at < data.size:
        batches.append((take(rows, 784), take(rows).view(np.int32)))
    return layers, batches
