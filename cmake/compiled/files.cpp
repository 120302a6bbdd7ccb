// The part of pinion::compiled that holds the bodies of files and data.
#include <pinion/data/random.ipp>
#include <pinion/data/sources.ipp>
#include <pinion/data/table.ipp>
#include <pinion/data/threads.ipp>
#include <pinion/files/crc32c.ipp>
#include <pinion/files/csv.ipp>
#include <pinion/files/elements.ipp>
#include <pinion/files/folder.ipp>
#include <pinion/files/idx.ipp>
#include <pinion/files/input_file.ipp>
#include <pinion/files/npy.ipp>
#include <pinion/files/output_file.ipp>
#include <pinion/files/safetensors.ipp>
#include <pinion/files/safetensors_header.ipp>
#include <pinion/files/safetensors_reader.ipp>
#include <pinion/files/safetensors_writer.ipp>
#include <pinion/files/shard_index.ipp>
