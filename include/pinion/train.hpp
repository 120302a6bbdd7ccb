// Training: optimizers and the global step.
#pragma once

#include <pinion/session.hpp>
#include <pinion/train/coordinator.hpp>
#include <pinion/train/global_step.hpp>
#include <pinion/train/optimizers.hpp>
#include <pinion/train/queue_runner.hpp>
#include <pinion/train/ssp.hpp>
#include <pinion/train/sync_replicas.hpp>
