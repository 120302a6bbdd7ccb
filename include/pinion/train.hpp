// Training: input, optimizers and how replicas of them keep together, checkpoints, summaries, queues, hooks.
#pragma once

#include <pinion/data/csv.hpp>
#include <pinion/data/sources.hpp>
#include <pinion/files/csv.hpp>
#include <pinion/files/idx.hpp>
#include <pinion/files/npy.hpp>
#include <pinion/files/safetensors.hpp>
#include <pinion/session.hpp>
#include <pinion/train/clipping.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/event_file_reader.hpp>
#include <pinion/train/global_step.hpp>
#include <pinion/train/losses.hpp>
#include <pinion/train/metrics.hpp>
#include <pinion/train/optimizers.hpp>
#include <pinion/train/queue_runner.hpp>
#include <pinion/train/saver.hpp>
#include <pinion/train/schedules.hpp>
#include <pinion/train/ssp.hpp>
#include <pinion/train/summary.hpp>
#include <pinion/train/summary_writer.hpp>
#include <pinion/train/sync_replicas.hpp>
