"""JAX as a peer: jax_peer.py (mnist THREADS ROWS FILE | loop THREADS TURNS | loop_gradient THREADS TURNS)."""
import itertools
import os
import sys

work, threads = sys.argv[1:3]
if threads == "1":
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["NPROC"] = threads  # the threads of XLA's pool
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp

import peer


def mnist_step(rows, path):
    layers, batches = peer.mnist(rows, path)
    state = jax.tree.map(jnp.asarray, (layers, [(w * 0, b * 0) for w, b in layers]))

    def loss_of(layers, images, labels):
        for w, b in layers[:-1]:
            images = jax.nn.elu(images @ w + b)
        w, b = layers[-1]
        scores = jax.nn.log_softmax(images @ w + b)
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))

    def step(state, images, labels):
        layers, momenta = state
        loss, slopes = jax.value_and_grad(loss_of)(layers, images, labels)
        momenta = jax.tree.map(lambda m, g: 0.95 * m + g, momenta, slopes)
        return (jax.tree.map(lambda w, m: w - 0.001 * m, layers, momenta), momenta), loss

    step = jax.jit(step, donate_argnums=0)
    turns = itertools.cycle(batches)

    def call():
        nonlocal state
        state, loss = step(state, *next(turns))
        return loss.block_until_ready()

    return call


def loop(turns, gradient):
    def last(x):
        # With its gradient the count must be known, or JAX keeps nothing for the way back.
        return jax.lax.fori_loop(0, turns, lambda _, y: jnp.tanh(y * 0.5), x)

    x = jnp.zeros(64)
    if gradient:
        run = jax.jit(jax.grad(lambda x: jnp.sum(last(x))))
        return lambda: run(x).block_until_ready()
    run = jax.jit(
        lambda x, n: jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, jnp.tanh(s[1] * 0.5)), (0.0, x))[1]
    )
    return lambda: run(x, float(turns)).block_until_ready()


if work == "mnist":
    function = mnist_step(int(sys.argv[3]), sys.argv[4])
else:
    function = loop(int(sys.argv[3]), work == "loop_gradient")
peer.serve("JAX " + jax.__version__, function)
