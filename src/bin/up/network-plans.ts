// How the service network of a node is run: the command line of the proxy and the name server.
import { join } from "node:path";
import type { Dialect } from "#dialect";
import type { GivenGates } from "#options";
import { gateFlags } from "./cluster-gates.ts";
import type { Programs } from "./plans.ts";
import type { ProcessPlan } from "./supervisor.ts";

export interface NetworkPlan {
  readonly dialect: Dialect;
  readonly programs: Programs;
  /** The client config they speak with. */
  readonly config: string;
  readonly logs: string;
  readonly nodeName: string;
  readonly gates: GivenGates;
}

export const clusterDomain = "cluster.local";
/** Where pods of all nodes have their addresses; see pod-network.ts. */
export const podRange = "10.128.0.0/9";
const patienceMilliseconds = 10_000;

/** One process where both are wanted. */
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
    patienceMilliseconds,
    args: [
      ...before,
      `--dialect=${dialect.name}`,
      `--${dialect.spelling.flag("orchconfig")}=${config}`,
      ...flags,
    ],
  };
}
