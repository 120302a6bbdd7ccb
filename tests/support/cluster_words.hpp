// A cluster as words of a command line: <job>/<task>=<host:port> ...
#pragma once

#include <cstdlib>
#include <string>

#include <pinion/spec/cluster_spec.hpp>

inline pinion::cluster_spec cluster_of(char** from, char** to) {
  pinion::cluster_spec cluster;
  for (; from != to; ++from) {
    const std::string text = *from;
    const auto slash = text.find('/'), equals = text.find('=');
    cluster.add_task(text.substr(0, slash), std::atoi(text.c_str() + slash + 1), text.substr(equals + 1));
  }
  return cluster;
}
