// The work of the proxy program: claims the network namespace, selects a packet filter, and syncs services
// until a stop is requested.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { hostname } from "node:os";
import type { Dialect } from "#dialect";
import { settle } from "#options";
import {
  type PacketFilter,
  iptablesFilter,
  nftablesFilter,
  routeLoopback,
  runCommand,
  runProxy,
  syncRoutes,
} from "#proxy";
import type { ClientProgramParts } from "./client-program.ts";
import { type ProxyProgramSettings, proxyOptions } from "./network-options.ts";

/** Runs until the signal aborts; `ready` is called after the first write. */
export async function proxyWork(
  settings: ProxyProgramSettings,
  parts: ClientProgramParts,
  ready: () => void,
): Promise<void> {
  const release = await claimNetwork();
  try {
    const filter = await chooseFilter(settings);
    parts.log.info("packet filter selected", { filter: filter.name });
    filterBridges();
    let restore: (() => void) | undefined;
    try {
      await runProxy({
        ...parts,
        filter,
        settings: {
          nodeName: settings.hostnameOverride || hostname().toLowerCase(),
          minSyncMilliseconds: settings.minSyncPeriod,
          syncMilliseconds: settings.syncPeriod,
          podRoutes: settings.podRoutes,
        },
        onWrite: onFirst(() => {
          // Only once the rules that drop other packets to loopback addresses are written.
          if (settings.localhostNodeports) restore = routeLoopback();
          ready();
        }),
      });
    } finally {
      if (settings.cleanupOnExit) {
        restore?.();
        await filter.remove();
        await syncRoutes(new Map(), runCommand);
      }
    }
  } finally {
    release();
  }
}

/**
 * Prevents two proxies in one network namespace from overwriting each other's rules: abstract socket names
 * are per namespace.
 */
async function claimNetwork(): Promise<() => void> {
  const server = createServer();
  server.listen("\0orch-proxy");
  try {
    await once(server, "listening");
  } catch {
    throw new Error("another orch-proxy is running in this network namespace");
  }
  server.unref();
  return () => void server.close();
}

async function chooseFilter(settings: ProxyProgramSettings): Promise<PacketFilter> {
  const options = {
    table: "orch-proxy",
    // In every dialect: agents and proxies of other clusters keep chains with the prefix of the original.
    prefix: "ORCH-",
    masqueradeBit: settings.masqueradeBit,
    masqueradeAll: settings.masqueradeAll,
    clusterCidrs: settings.clusterCidr,
    nodePortCidrs: settings.nodeportAddresses,
    localhostNodePorts: settings.localhostNodeports,
  };
  const { proxyMode } = settings;
  const filter =
    (proxyMode === "iptables" ? undefined : await nftablesFilter(options)) ??
    (proxyMode === "nftables" ? undefined : await iptablesFilter(options));
  if (filter) return filter;
  throw new Error(
    `${proxyMode === "" ? "neither nft nor iptables" : proxyMode} can be used here: root and the package nftables or iptables are required`,
  );
}

/** Enables netfilter for bridged packets between pods. */
function filterBridges(): void {
  for (const name of ["bridge-nf-call-iptables", "bridge-nf-call-ip6tables"]) {
    const file = `/proc/sys/net/bridge/${name}`;
    if (existsSync(file) && readFileSync(file, "utf8").trim() !== "1") writeFileSync(file, "1");
  }
}

/** Removes the rules of an earlier run; resolves with the exit code. */
export async function cleanUpProxy(settings: ProxyProgramSettings): Promise<number> {
  try {
    for (const proxyMode of ["nftables", "iptables"] as const)
      await (await chooseFilter({ ...settings, proxyMode }).catch(() => undefined))?.remove();
    await syncRoutes(new Map(), runCommand);
    return 0;
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`);
    return 1;
  }
}

/** Removes the rules of a proxy that was killed, unless another one runs in this network namespace. */
export async function removeLeftRules(dialect: Dialect): Promise<void> {
  const release = await claimNetwork().catch(() => undefined);
  if (!release) return;
  try {
    await cleanUpProxy(settle(proxyOptions(dialect), []).values);
  } finally {
    release();
  }
}

function onFirst(run: () => void): () => void {
  let done = false;
  return () => {
    if (!done) run();
    done = true;
  };
}
