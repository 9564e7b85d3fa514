// `orch node`: eviction and shutdown plans of a node, fetched from its agent through the API server.
import { parseArgs } from "node:util";
import { connectionOf, https, readClientConfig, textOf } from "#client";
import type { Output } from "./output.ts";

const usage = `Usage:
  orch node why-evict NODE       The order in which pods would be evicted, and why.
  orch node shutdown-plan NODE   The order and timing of pod termination at a machine shutdown.

  --orchconfig FILE              Client configuration for the API server (default: $ORCHCONFIG).
`;

interface Preview {
  readonly pressures: readonly string[];
  readonly signals: readonly {
    readonly signal: string;
    readonly available?: string;
    readonly thresholds: readonly {
      readonly kind: string;
      readonly quantity?: string;
      readonly met: boolean;
    }[];
    readonly order: readonly {
      readonly pod: string;
      readonly priority: number;
      readonly used?: number;
      readonly requested?: number;
    }[];
  }[];
}

interface Plan {
  readonly inhibitSeconds: number;
  readonly groups: readonly {
    readonly priority: number;
    readonly seconds: number;
    readonly pods: readonly { readonly pod: string; readonly graceSeconds: number }[];
  }[];
}

const commands = {
  "why-evict": {
    path: "eviction/preview",
    print: (json: string) => previewText(JSON.parse(json) as Preview),
  },
  "shutdown-plan": { path: "shutdown/plan", print: (json: string) => planText(JSON.parse(json) as Plan) },
} as const;

export async function nodeCommand(argv: readonly string[], { out, err }: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { orchconfig: { type: "string" }, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
    strict: false,
  });
  const [name = "", node = ""] = positionals;
  if (values["help"]) {
    out(usage);
    return 0;
  }
  const file = String(values["orchconfig"] ?? process.env["ORCHCONFIG"] ?? "");
  if (!(name in commands) || node === "" || file === "") {
    err(usage);
    return 1;
  }
  const command = commands[name as keyof typeof commands];
  const transport = https(connectionOf(readClientConfig(file)));
  try {
    const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/${command.path}`;
    const response = await transport.send({ method: "GET", path, headers: {} });
    const body = await textOf(response);
    if (response.status !== 200) {
      err(`error: the node's agent responded with ${response.status}: ${body.trim()}\n`);
      return 1;
    }
    out(command.print(body));
    return 0;
  } finally {
    transport.close();
  }
}

export function previewText({ pressures, signals }: Preview): string {
  const lines = [`pressure: ${pressures.length > 0 ? pressures.join(", ") : "none"}`];
  for (const { signal, available, thresholds, order } of signals) {
    const limits = thresholds.map(
      ({ kind, quantity, met }) => `${kind} ${quantity ?? "?"}${met ? " (met)" : ""}`,
    );
    lines.push("", `${signal}: ${available ?? "unknown"} left, evicts below ${limits.join(", ")}`);
    order.forEach(({ pod, priority, used, requested }, at) => {
      const against = requested === undefined ? "" : ` of ${requested} requested`;
      lines.push(`  ${at + 1}. ${pod}  priority ${priority}, uses ${used ?? "unknown"}${against}`);
    });
    if (order.length === 0) lines.push("  no pod can be evicted");
  }
  return `${lines.join("\n")}\n`;
}

export function planText({ inhibitSeconds, groups }: Plan): string {
  if (groups.length === 0) return "graceful shutdown is not enabled on this node\n";
  const lines = [`a shutdown is delayed by at most ${inhibitSeconds} s`];
  for (const { priority, seconds, pods } of groups) {
    lines.push("", `priority ${priority} and above, ${seconds} s:`);
    for (const { pod, graceSeconds } of pods) lines.push(`  ${pod}  ${graceSeconds} s to end`);
    if (pods.length === 0) lines.push("  no pods");
  }
  return `${lines.join("\n")}\n`;
}
