// UDP flows have no end: conntrack would keep sending them to a deleted backend while traffic continues. They
// are deleted when their backend is removed, and when a service gets its first backend.
import type { Log } from "#base";
import type { RunCommand } from "./packet-filter.ts";
import type { Backend, ServicePort } from "./service-ports.ts";

/** Returns the arguments of `conntrack -D` for the changes between two states. */
export function staleFlows(before: readonly ServicePort[], after: readonly ServicePort[]): string[][] {
  const keyOf = ({ hash, family }: ServicePort): string => `${hash} ${family}`;
  const now = new Map(after.filter(isUdp).map((port) => [keyOf(port), port]));
  const known = new Map(before.filter(isUdp).map((port) => [keyOf(port), port]));
  const commands: string[][] = [];
  const addCommands = (port: ServicePort, rest: readonly string[]): void => {
    const common = ["-p", "udp", "-f", port.family === 6 ? "ipv6" : "ipv4"];
    for (const address of addressesOf(port))
      commands.push([...common, "--orig-dst", address, "--dport", String(port.port), ...rest]);
    if (port.nodePort > 0) commands.push([...common, "--dport", String(port.nodePort), ...rest]);
  };
  for (const [key, port] of known) {
    const next = now.get(key);
    if (next === port) continue;
    const remaining = new Set((next ? backendsOf(next) : []).map(socketOf));
    const removed = new Set(
      backendsOf(port)
        .filter((backend) => !remaining.has(socketOf(backend)))
        .map(({ address }) => address),
    );
    for (const address of removed) addCommands(port, ["--dst-nat", address]);
  }
  for (const [key, port] of now) {
    const was = known.get(key);
    if (was !== port && backendsOf(port).length > 0 && (!was || backendsOf(was).length === 0))
      addCommands(port, []);
  }
  return commands;
}

const isUdp = ({ protocol }: ServicePort): boolean => protocol === "udp";
const backendsOf = ({ backends, localBackends }: ServicePort): readonly Backend[] => [
  ...backends,
  ...localBackends,
];
const socketOf = ({ address, port }: Backend): string => `${address} ${port}`;
const addressesOf = (port: ServicePort): string[] => [
  ...(port.clusterAddress === undefined ? [] : [port.clusterAddress]),
  ...port.externalAddresses,
  ...port.balancerAddresses,
];

/** Returns a function that deletes flows; a missing conntrack program is logged once. */
export function flowCleaner(run: RunCommand, log: Log): (commands: readonly string[][]) => Promise<void> {
  let missing = false;
  return async (commands) => {
    for (const args of commands) {
      if (missing) return;
      const { code, stderr } = await run(["conntrack", "-D", ...args]);
      if (code === null) {
        missing = true;
        log.warn("conntrack is not installed: UDP clients may keep using deleted backends");
      } else if (code !== 0 && !/0 flow entries/.test(stderr))
        log.warn("flows were not deleted", { error: stderr.trim() });
    }
  };
}
