# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by library.sh and windows.sh, which have fail(), a directory $scratch, and the daemon's program $farlands.
# Both end the process $daemon, if it is set.
daemon=

# Serve all sample worlds from one configuration, at $address; $worlds has their names.
serve_worlds() {
    local deadline=$((SECONDS + 20))
    { echo "worlds:" && echo "  - name: fractal" && grep -hv '^worlds:' config/worlds/*.yaml; } \
        >"$scratch/worlds.yaml"
    mapfile -t worlds < <(sed -n 's/^ *- name: //p' "$scratch/worlds.yaml")
    [ "${#worlds[@]}" -ge 8 ] || fail "${#worlds[@]} worlds"
    "$farlands" serve --listen 127.0.0.1:0 --cache "$scratch/cache" --config "$scratch/worlds.yaml" \
        >"$scratch/serving" 2>"$scratch/serve.log" &
    daemon=$!
    until address=$(grep -o 'http://[^/ ]*' "$scratch/serving"); do
        [ "$SECONDS" -lt "$deadline" ] || fail "not serving: $(cat "$scratch/serve.log")"
        sleep 0.05
    done
}

# download PATH FILE
download() {
    curl --silent --fail --noproxy '*' --max-time 20 -o "$2" "$address/$1" || fail "no $1"
}
