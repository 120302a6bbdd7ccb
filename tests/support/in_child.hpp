// Runs a function in the child of a fork().
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

// The text that a child of fork() yields; "it hangs" where it does not end within a minute.
template <class F>
std::string in_child(F f) {
  int ends[2] = {};
  if (::pipe(ends) != 0) return "no pipe";
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const std::string said = f();
    const bool is_written = ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    ::_exit(is_written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  char part[512];
  for (ssize_t n; (n = ::read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int how = 0;
  ::waitpid(child, &how, 0);
  return WIFSIGNALED(how) ? "it hangs" : said;
}
