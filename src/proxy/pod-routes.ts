// Host-gateway routes: the pod CIDR of each other node on the same network is routed through the node's
// address.
import type { kinds } from "#client";
import type { Seen } from "#controllerkit";
import { isIP } from "node:net";
import type { RunCommand } from "./packet-filter.ts";

export type SeenNode = Seen<typeof kinds.nodes.schema>;

/** Routing protocol number that identifies our routes; no routing daemon uses it. */
const protocol = "143";

/** Returns the next hop by pod CIDR. */
export function podRoutes(nodes: Iterable<SeenNode>, ownName: string): ReadonlyMap<string, string> {
  const routes = new Map<string, string>();
  for (const { metadata, spec, status } of nodes) {
    if (metadata.name === ownName) continue;
    const ranges = spec?.podCIDRs?.length ? spec.podCIDRs : [spec?.podCIDR ?? ""];
    for (const range of ranges.filter((each) => each !== "")) {
      const family = range.includes(":") ? 6 : 4;
      const nextHop = (status?.addresses ?? []).find(
        ({ type, address }) => type === "InternalIP" && isIP(address) === family,
      );
      if (nextHop) routes.set(range, nextHop.address);
    }
  }
  return routes;
}

/** Adds and removes our routes to match; returns descriptions of failed changes. */
export async function syncRoutes(wanted: ReadonlyMap<string, string>, run: RunCommand): Promise<string[]> {
  const problems: string[] = [];
  for (const family of ["-4", "-6"]) {
    const { code, stdout } = await run(["ip", family, "-o", "route", "show", "proto", protocol]);
    if (code !== 0) continue;
    const present = new Map(
      stdout.split("\n").flatMap((line) => {
        const found = /^(\S+) via (\S+)/.exec(line);
        return found ? [[found[1]!, found[2]!] as const] : [];
      }),
    );
    for (const range of present.keys())
      if (!wanted.has(range)) await run(["ip", family, "route", "del", range, "proto", protocol]);
    for (const [range, nextHop] of wanted) {
      if (range.includes(":") !== (family === "-6") || present.get(range) === nextHop) continue;
      const { code: failed, stderr } = await run([
        "ip",
        family,
        "route",
        "replace",
        range,
        "via",
        nextHop,
        "proto",
        protocol,
      ]);
      if (failed !== 0) problems.push(`${range} via ${nextHop}: ${stderr.trim()}`);
    }
  }
  return problems;
}
