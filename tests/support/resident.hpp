// The memory of processes.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

// The resident memory of a process, in MiB, without that of files: they are code, which is read when it first runs.
inline double resident_mib(const std::string& process = "self") {
  std::ifstream statm("/proc/" + process + "/statm");
  double all = 0, resident = 0, of_files = 0;  // pages
  statm >> all >> resident >> of_files;
  return (resident - of_files) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}
