#!/bin/sh
# Runs a command in a network namespace of its own: tests/attacks/network.sh COMMAND...
#
# The loopback there has Ethernet's packet size. With the usual 64 KiB the kernel would buffer megabytes per connection,
# and a client that stops reading would cost the daemon less than over a network. The loopback has all addresses in
# fd00:0:0:1::/64. If namespaces are not permitted, the command runs in the present network.
set -eu
if [ "${ATTACKS_NETWORK:-}" = inside ]; then
    ip link set lo mtu 1500 up
    { ip -6 route add local fd00:0:0:1::/64 dev lo && echo 1 >/proc/sys/net/ipv6/ip_nonlocal_bind; } 2>/dev/null ||
        ATTACKS_NETWORK=ipv4
    export ATTACKS_NETWORK
    exec "$@"
fi
PATH=$PATH:/usr/sbin:/sbin
for map in "" --map-root-user; do
    # shellcheck disable=SC2086
    if unshare --net $map ip link set lo up 2>/dev/null; then
        ATTACKS_NETWORK=inside exec unshare --net $map "$0" "$@"
    fi
done
exec "$@"
