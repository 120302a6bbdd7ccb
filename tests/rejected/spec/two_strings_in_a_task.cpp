// expect: cluster_spec
// Two strings are not one task: neither a range of iterators nor an index and an address.
#include <pinion/spec/cluster_spec.hpp>

#ifdef ACCEPT
const pinion::cluster_spec cluster{{"worker", {{"a:1"}, {"b:1"}}}};
#else
const pinion::cluster_spec cluster{{"worker", {{"a:1", "b:1"}}}};
#endif
