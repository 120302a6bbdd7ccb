"""TensorFlow as a peer: tensorflow_peer.py mnist THREADS ROWS FILE. A callable of a graph, which is its fastest way."""
import itertools
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow.compat.v1 as tf

import peer

tf.disable_eager_execution()
threads, rows, path = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
layers, batches = peer.mnist(rows, path)
X = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int32, [None])
h = X
for i, (w, b) in enumerate(layers):
    h = tf.matmul(h, tf.Variable(w)) + tf.Variable(b)
    if i + 1 < len(layers):
        h = tf.nn.elu(h)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h))
train = tf.train.MomentumOptimizer(0.001, 0.95).minimize(loss)
session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads))
session.run(tf.global_variables_initializer())
step = session.make_callable([loss, train], feed_list=[X, y])
turns = itertools.cycle(batches)
peer.serve("TensorFlow " + tf.__version__, lambda: step(*next(turns))[0])
