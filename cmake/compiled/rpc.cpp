// The part of pinion::compiled that holds the bodies of rpc.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/rpc/acceptor.ipp>
#include <pinion/rpc/archive.ipp>
#include <pinion/rpc/certificate.ipp>
#include <pinion/rpc/channel.ipp>
#include <pinion/rpc/connection.ipp>
#include <pinion/rpc/credentials.ipp>
#include <pinion/rpc/failure.ipp>
#include <pinion/rpc/frame.ipp>
#include <pinion/rpc/fuse.ipp>
#include <pinion/rpc/handshake.ipp>
#include <pinion/rpc/key.ipp>
#include <pinion/rpc/message.ipp>
#include <pinion/rpc/network.ipp>
#include <pinion/rpc/network_turn.ipp>
#include <pinion/rpc/opening.ipp>
#include <pinion/rpc/pulse.ipp>
#include <pinion/rpc/refusals.ipp>
#include <pinion/rpc/secret_file.ipp>
#include <pinion/rpc/security.ipp>
#include <pinion/rpc/task_state.ipp>
#include <pinion/rpc/tcp_network.ipp>
#include <pinion/rpc/tls.ipp>
#include <pinion/rpc/tls_stream.ipp>
#include <pinion/rpc/traffic.ipp>
#endif
