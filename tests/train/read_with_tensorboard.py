"""Reads what programs/write_events.cpp wrote, by TensorBoard's own code: read_with_tensorboard.py PROGRAM"""
import io
import struct
import subprocess
import sys
import tempfile
import zlib

from google.protobuf import text_format
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.compat.proto import graph_pb2
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util import tensor_util


def pixels(png):
    """Rows of an unfiltered PNG of 8-bit RGB."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    stream, at = b"", 8
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at : at + 8])
        assert zlib.crc32(png[at + 4 : at + 8 + n]) == struct.unpack(">I", png[at + 8 + n : at + 12 + n])[0]
        if kind == b"IDAT":
            stream += png[at + 8 : at + 8 + n]
        at += 12 + n
    return zlib.decompress(stream)


def same(what, got, wanted):
    assert got == wanted, f"{what}: {got!r}, not {wanted!r}"


with tempfile.TemporaryDirectory() as directory:
    subprocess.run([sys.argv[1], directory], check=True)
    everything = event_accumulator.STORE_EVERYTHING_SIZE_GUIDANCE

    # The reader that programs use: values in the form in which they were written.
    plain = event_accumulator.EventAccumulator(directory, size_guidance=everything)
    plain.Reload()
    tags = plain.Tags()
    same("scalars", sorted(tags["scalars"]), ["loss", "plain"])
    same("histograms", sorted(tags["histograms"]), ["layer/nothing", "layer/w"])
    same("images", sorted(tags["images"]), [f"picture/image/{i}" for i in range(3)])
    same("texts", sorted(tags["tensors"]), ["_hparams_/session_start_info", "direct", "note", "table"])
    same("points", [(e.step, e.value) for e in plain.Scalars("loss")], [(1, -0.5), (2, -10.0), (3, -15.0), (4, -20.0)])
    h = plain.Histograms("layer/w")[0].histogram_value
    same("a histogram", (h.min, h.max, h.num, h.sum, h.sum_squares), (-2, 1, 6, -0.5, 7.25))
    same("an image", (plain.Images("picture/image/1")[0].width, plain.Images("picture/image/1")[0].height), (3, 2))
    same("first", plain.file_version, 2.0)

    # The reader of the server: every kind but the graph is converted to tensors when it is loaded.
    run = plugin_event_accumulator.EventAccumulator(directory, size_guidance=everything)
    run.Reload()
    tags = run.Tags()
    same("graph", tags["graph"], True)
    series = {t: [(e.step, tensor_util.make_ndarray(e.tensor_proto)) for e in run.Tensors(t)] for t in tags["tensors"]}
    plugin = {t: run.SummaryMetadata(t).plugin_data.plugin_name for t in tags["tensors"]}
    same("tags", plugin, {
        "loss": "scalars", "plain": "scalars", "layer/w": "histograms", "layer/nothing": "histograms",
        "picture/image/0": "images", "picture/image/1": "images", "picture/image/2": "images",
        "note": "text", "table": "text", "direct": "text", "_hparams_/session_start_info": "hparams",
        "__run_graph__": "graphs"})

    # The restart purged what the first run said of the steps 2 and 3.
    same("loss", [(s, float(v)) for s, v in series["loss"]], [(1, -0.5), (2, -10.0), (3, -15.0), (4, -20.0)])
    same("plain", [(s, float(v)) for s, v in series["plain"]], [(7, -1.5)])

    step, buckets = series["layer/w"][0]
    same("step", step, 1)
    same("total", buckets[:, 2].sum(), 6)
    same("ends", (buckets[0, 0], buckets[-1, 1]), (-2, 1))
    assert (buckets[:, 0] <= buckets[:, 1]).all(), buckets
    for x in (-2, -1, 0, 0.5):
        same(f"of {x}", sum(n for left, right, n in buckets if left <= x < right), 1)
    same("nothing", series["layer/nothing"][0][1][:, 2].sum(), 0)

    step, image = series["picture/image/0"][0]
    same("size", [bytes(s) for s in image[:2]], [b"3", b"2"])
    same("pixels", pixels(image[2]), 2 * (b"\0" + 9 * b"\0"))

    same("note", series["note"][0][1].item(), b"*hello*")
    same("table", series["table"][0][1].tolist(), [[b"a", b"b"], [b"c", "\u00e4".encode()]])
    same("direct", series["direct"][0][1].item(), b"# title")

    start = plugin_data_pb2.HParamsPluginData.FromString(
        run.SummaryMetadata("_hparams_/session_start_info").plugin_data.content).session_start_info
    same("rate", start.hparams["rate"].number_value, 0.5)
    same("layers", start.hparams["layers"].number_value, 3)
    same("kind", start.hparams["kind"].string_value, "deep")
    same("fast", start.hparams["fast"].bool_value, True)

    graph = run.Graph()
    assert isinstance(graph, graph_pb2.GraphDef)
    nodes = {n.name: n for n in graph.node}
    here = "/job:localhost/replica:0/task:0/device:"
    same("a variable", (nodes["w"].op, nodes["w"].device), ("VariableV2", here + "GPU:0"))
    same("a summary", (nodes["loss"].op, nodes["loss"].device), ("ScalarSummary", here + "CPU:0"))
    same("its input", [nodes[i].op for i in nodes["loss"].input], ["Sum"])
    same("a read", list(nodes["w/read"].input), ["w"])
    same("a shape", [d.size for d in nodes["w"].attr["_output_shapes"].list.shape[0].dim], [2, 3])
    same("a scalar", [len(s.dim) for s in nodes["loss"].attr["_output_shapes"].list.shape], [0])
    same("a dtype", nodes["w"].attr["dtype"].type, 1)
    value = tensor_util.make_ndarray(nodes["w/initial_value"].attr["value"].tensor)
    same("a constant", value.tolist(), [[-2, -1, 0], [0.5, 1, 1]])
    missing = [i for n in graph.node for i in n.input if i.lstrip("^").split(":")[0] not in nodes]
    same("dangling inputs", missing, [])

    # The text form: the same graph, on the devices that were asked for.
    with open(f"{directory}/graph.pbtxt", encoding="ascii") as file:
        text = text_format.Parse(file.read(), graph_pb2.GraphDef())
    same("a device in text", {n.name: n.device for n in text.node}["w"], "/device:GPU:0")
    for n in [*text.node, *graph.node]:
        n.device = ""
    same("the graph as text", text, graph)
print("TensorBoard reads what was written")
