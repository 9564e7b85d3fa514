// Command lines of the proxy and the DNS server of a node.
import { join } from "node:path";
import type { Dialect } from "#dialect";
import type { GivenGates } from "#options";
import { gateFlags } from "./cluster-gates.ts";
import type { Programs } from "./plans.ts";
import type { ProcessPlan } from "./supervisor.ts";

export interface NetworkPlan {
  readonly dialect: Dialect;
  readonly programs: Programs;
  /** Path of their client config. */
  readonly config: string;
  readonly logs: string;
  readonly nodeName: string;
  readonly gates: GivenGates;
}

export const clusterDomain = "cluster.local";
/** Pod addresses of all nodes; see pod-network.ts. */
export const podRange = "10.128.0.0/9";
const stopTimeoutMilliseconds = 10_000;

/** Returns the plans; a single process serves both if both are enabled. */
export function networkPlans(
  plan: NetworkPlan,
  { proxy, dns }: { readonly proxy: boolean; readonly dns: boolean },
  address: string,
): ProcessPlan[] {
  const proxyFlags = [
    `--hostname-override=${plan.nodeName}`,
    `--cluster-cidr=${podRange}`,
    "--pod-routes",
    "--cleanup-on-exit",
    ...gateFlags(plan.dialect, plan.gates),
  ];
  const dnsFlags = [`--listen-address=${address}`, `--cluster-domain=${clusterDomain}`];
  if (proxy && dns) return [programPlan(plan, "network", "orch-network", [...proxyFlags, ...dnsFlags])];
  if (proxy) return [programPlan(plan, "proxy", "orch-proxy", proxyFlags)];
  return dns ? [programPlan(plan, "name server", "orch-dns", dnsFlags)] : [];
}

function programPlan(
  { dialect, programs, config, logs }: NetworkPlan,
  name: string,
  program: string,
  flags: readonly string[],
): ProcessPlan {
  const [command, ...before] = programs.commandOf(program);
  return {
    name,
    command: command!,
    logFile: join(logs, `${program}.log`),
    stopTimeoutMilliseconds,
    args: [
      ...before,
      `--dialect=${dialect.name}`,
      `--${dialect.spelling.flag("orchconfig")}=${config}`,
      ...flags,
    ],
  };
}
