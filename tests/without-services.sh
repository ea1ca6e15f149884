#!/bin/bash
# Runs a command that installs packages, as root, so that their services neither start now nor at
# the next boot: the tests run nginx, Varnish and Prometheus themselves, on ports of their own.
#
#   tests/without-services.sh apt-get install nginx
#
# Debian's maintainer scripts start services if /usr/sbin/policy-rc.d allows it, and always enable
# them. Services that were enabled before stay enabled.
set -euo pipefail
policy=/usr/sbin/policy-rc.d
enabled() {
    find /etc/systemd/system -path '*.wants/*' -printf '%f\n' 2>/dev/null | sort -u
}

before=$(enabled)
if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\n# Made by %s, which is installing packages.\nexit 101\n' "$0" >$policy
    chmod 755 $policy
fi
"$@"
mapfile -t new < <(comm -13 <(echo "$before") <(enabled))
[ ${#new[@]} -eq 0 ] || ! command -v systemctl >/dev/null || systemctl --quiet disable "${new[@]}"
