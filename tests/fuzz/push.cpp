// Values that a peer pushes: a message takes memory for what it brings, its bytes go where it says, and a value that is
// not the one that its receiver was compiled for is refused before a kernel sees it.
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/rpc/typed.hpp>

#include <fuzz/letters.hpp>
#include <fuzz/target.hpp>
#include <fuzz/tensors.hpp>

namespace fuzz { namespace {

using distributed::push_value;

// What a connection does with a message: its rooms are filled with the payload, in pieces, and then it is delivered.
void fill(rpc::incoming& message, std::string_view payload) {
  std::size_t room = 0;
  for (const auto& r : message.rooms()) room += r.size();
  if (room != payload.size()) throw error(errc::data_loss, "a message describes another payload");
  for (const auto& r : message.rooms()) {
    std::memcpy(r.data(), payload.data(), r.size());
    payload.remove_prefix(r.size());
  }
  message.check();
  message.arrived();
}

std::string bytes_of(const any_tensor& t) {
  if (t.empty() || t.dtype() == dtype::string) return "";
  return {static_cast<const char*>(t.raw()), t.bytes()};
}

void read(std::string_view input) {
  const letter l = letter_of(input);
  const rpc::envelope e{push_value::method, l.control, l.payload.size()};
  int delivered = 0;
  const auto message = rpc::receive<push_value>(e, [&](push_value&& v) {
    ++delivered;
    law(bytes_of(v.value) == l.payload, "a value has other bytes than were sent");
    law(rpc::encode(v).control == l.control, "a value changes as it is pushed again");
  });
  fill(*message, l.payload);
  law(delivered == 1, "a value was delivered " + std::to_string(delivered) + " times");
}

std::string seed(const any_tensor& value) {
  push_value v;
  v.key =
      transfer_key("a/b", "0", "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0");
  v.value = value;
  return input_of(rpc::encode(v));
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{seed({}), seed(counting(dtype::float64, {0, 5})),
                               seed(tensor<std::string>::of({{"a", ""}, {"b", "naïve"}}).untyped())};
  for (const auto type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean})
    all.push_back(seed(counting(type, {2, 3})));
  all.push_back(seed(counting(dtype::float32, {1, 1, 1, 2, 1, 1, 1, 1})));
  return all;
}

const enrolled here({.name = "push", .read = read, .seeds = seeds, .most_memory = [](std::string_view input) {
                       return 32 * input.size() + (std::size_t{1} << 16);
                     }});

}}  // namespace fuzz
