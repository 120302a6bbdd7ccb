// Compiled without the precompiled header, and only if session.hpp, and graph.hpp in it, declares nothing of threads,
// files, iostream, Asio or Cereal, nor the containers that bodies need alone, not by way of others either.
#include <pinion/session.hpp>

namespace dear {

struct thread;
struct jthread;
struct stop_token;
template <class...>
struct scoped_lock;
struct shared_mutex;
struct condition_variable;
template <class>
struct future;
struct cout;
template <class...>
struct variant;
template <class, class>
struct deque;

}  // namespace dear

// A name in it that the standard library has declared too is ambiguous, which is an error.
namespace either {

using namespace std;
using namespace dear;

}  // namespace either

using either::condition_variable, either::cout, either::deque, either::future, either::jthread, either::scoped_lock,
    either::shared_mutex, either::stop_token, either::thread, either::variant;

// <iosfwd> declares the streams of files, <fstream> defines them. Of <filesystem> the name alone may be declared, which
// <chrono> does; house_test looks for who includes it.
template <class T>
concept defined = requires {
  sizeof(T);
};
static_assert(!defined<std::filebuf>, "session.hpp brings <fstream>");

// Where a namespace of that name has been declared, a type cannot be.
struct asio;
struct cereal;
