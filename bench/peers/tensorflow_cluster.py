"""TensorFlow's servers beside bench/async_step.cpp --workers=N: tensorflow_cluster.py WORKERS [ROUNDS].

One ps and so many workers, each a process, train the same network asynchronously on batches of 50; prints the median
over rounds of a second of the steps that all take together.
"""
import os
import socket
import statistics
import subprocess
import sys
import time

import peer

BATCH = 50


def cluster(ports):
    hosts = ["127.0.0.1:" + port for port in ports]
    return {"ps": hosts[:1], "worker": hosts[1:]}


def train(ports, task):
    """A worker, which takes steps for as many seconds as each line says, and prints how many."""
    import numpy as np

    tf = tensorflow()
    spec = tf.train.ClusterSpec(cluster(ports))
    server = tf.train.Server(spec, job_name="worker", task_index=task)
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{task}", cluster=spec)):
        x = tf.placeholder(tf.float32, [None, peer.SIZES[0]])
        y = tf.placeholder(tf.int32, [None])
        h = x
        for i, (inputs, outputs) in enumerate(zip(peer.SIZES, peer.SIZES[1:])):
            w = tf.get_variable(f"w{i}", [inputs, outputs], initializer=tf.truncated_normal_initializer(stddev=0.05))
            h = tf.matmul(h, w) + tf.get_variable(f"b{i}", [outputs], initializer=tf.zeros_initializer())
            if i + 2 < len(peer.SIZES):
                h = tf.nn.elu(h)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h))
        step = tf.train.get_or_create_global_step()
        minimize = tf.train.MomentumOptimizer(0.01, 0.95).minimize(loss, global_step=step)
    alone = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task}"])  # waits for no other worker
    session = tf.Session(server.target, config=alone)
    if task == 0:
        session.run(tf.global_variables_initializer())
    call = session.make_callable([loss, minimize], feed_list=[x, y])
    images = (np.arange(BATCH * peer.SIZES[0]) % 97 / 97).astype(np.float32).reshape(BATCH, -1)
    labels = (np.arange(BATCH) % 10).astype(np.int32)
    for _ in range(50):
        call(images, labels)
    print("it has begun", flush=True)
    for line in sys.stdin:
        steps, until = 0, time.perf_counter() + float(line)
        while time.perf_counter() < until:
            call(images, labels)
            steps += 1
        print(steps, flush=True)


def serve(ports):
    tf = tensorflow()
    tf.train.Server(tf.train.ClusterSpec(cluster(ports)), job_name="ps", task_index=0).join()


def tensorflow():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    return tf


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def measure(workers, rounds):
    ports = [free_port() for _ in range(workers + 1)]

    def start(*words):
        return subprocess.Popen(
            [sys.executable, __file__, *words, *ports], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    tasks = [start("--serve")]
    try:
        for i in range(workers):  # one after the other, since the first initialises
            tasks.append(start(f"--work={i}"))
            if not tasks[-1].stdout.readline():
                sys.exit("a worker of TensorFlow is gone")
        rates = []
        for _ in range(rounds):
            for task in tasks[1:]:
                print(1, file=task.stdin, flush=True)
            rates.append(sum(int(task.stdout.readline()) for task in tasks[1:]))
        print(f"{statistics.median(rates):.0f} asynchronous steps a second, 1 ps and {workers} workers, TensorFlow")
    finally:
        for task in tasks:
            task.kill()


if sys.argv[1] == "--serve":
    serve(sys.argv[2:])
elif sys.argv[1].startswith("--work="):
    train(sys.argv[2:], int(sys.argv[1].removeprefix("--work=")))
else:
    measure(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 15)
