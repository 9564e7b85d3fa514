// Addresses of node agents, and the server's credentials for connections to them.
import { readFileSync, statSync } from "node:fs";
import { type Socket, connect, isIP } from "node:net";
import { type ConnectionOptions, connect as secure } from "node:tls";
import type { Node } from "#api";
import { notFound, plainError, serviceUnavailable } from "#base";
import type { Dialect } from "#dialect";
import { type Dial, checkServerIdentity, connectionErrorText, trust } from "#http";
import type { ResourceHandle } from "#registry";

export interface AgentOptions {
  /** Port of agents whose nodes do not report one. */
  readonly defaultPort: number;
  readonly dialect: Dialect;
  readonly nodes: ResourceHandle<Node>;
  /** File paths; without a CA file the agent's certificate is not verified. */
  readonly authorities: string;
  readonly certificate: string;
  readonly key: string;
  readonly addressTypes: readonly string[];
  readonly timeoutMilliseconds: number;
  /** Opens connections to nodes, pods and services that are not reached directly. */
  readonly dial?: Dial | undefined;
  readonly logs?: PodLogObserver | undefined;
}

/** Observes requests for pod logs. */
export interface PodLogObserver {
  /** Called for each request; `unchecked` if the agent's certificate is not verified. */
  requested(unchecked: boolean): void;
  /** Called if the verification of the agent's certificate failed. */
  untrusted(): void;
}

export interface AgentAddress {
  readonly host: string;
  readonly port: number;
  /** Opens the connection, if the agent is not reached directly. */
  readonly dial?: Dial | undefined;
}

export interface Agents {
  /**
   * Returns the address of a node's agent. Throws if the node does not exist or has no address. A missing
   * node is reported as an object of the requested resource, as in kube-apiserver.
   */
  locate(nodeName: string, requested: "nodes" | "pods"): Promise<AgentAddress>;
  /** Returns the TLS options of a connection to an agent. `unchecked` accepts any certificate. */
  tls(unchecked?: boolean): ConnectionOptions;
  readonly timeoutMilliseconds: number;
  readonly dial: Dial | undefined;
  readonly logs: PodLogObserver | undefined;
}

const shown = (addresses: readonly { readonly type: string; readonly address: string }[]): string =>
  addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");

export function agentsOf(options: AgentOptions): Agents {
  const authorities = fileText(options.authorities);
  const certificate = fileText(options.certificate);
  const key = fileText(options.key);
  const endpointField = options.dialect.spelling.field("nodeagentEndpoint");
  return {
    timeoutMilliseconds: options.timeoutMilliseconds,
    dial: options.dial,
    logs: options.logs,
    locate: async (nodeName, requested) => {
      const node = await options.nodes.get(nodeName);
      if (!node) throw notFound({ group: "", resource: requested }, nodeName);
      const addresses = node.status.addresses ?? [];
      const host = options.addressTypes
        .map((wanted) => addresses.find(({ type }) => type === wanted)?.address)
        .find((address) => address);
      if (!host) throw plainError(`no preferred addresses found; known addresses: [${shown(addresses)}]`);
      const endpoint = (node.status.daemonEndpoints as Record<string, { Port?: number } | undefined>)[
        endpointField
      ];
      const { dial } = options;
      return { host, port: endpoint?.Port || options.defaultPort, ...(dial && { dial }) };
    },
    tls: (unchecked = false) => {
      const [ca, cert, secret] = [authorities(), certificate(), key()];
      return {
        ...(ca && !unchecked && trust(ca)),
        ...(cert && { cert }),
        ...(secret && { key: secret }),
        rejectUnauthorized: ca !== undefined && !unchecked,
      };
    },
  };
}

/** Returns the content of a file, read again when it changes; undefined without a path. */
function fileText(path: string): () => string | undefined {
  let known: { readonly time: number; readonly text: string } | undefined;
  return () => {
    if (path === "") return undefined;
    const time = statSync(path).mtimeMs;
    if (known?.time !== time) known = { time, text: readFileSync(path, "utf8") };
    return known.text;
  };
}

/** Opens a connection, over TLS if options are given, within the timeout. */
export async function dial(
  { host, port, dial: throughProxy }: AgentAddress,
  tls: ConnectionOptions | undefined,
  timeoutMilliseconds: number,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const tunneled = await throughProxy?.({ host, port }).catch((error: Error) => {
    throw serviceUnavailable(
      `error trying to reach ${host}:${port}: ${connectionErrorText(error, { host, port })}`,
    );
  });
  if (tunneled && !tls) return tunneled;
  return await new Promise((resolve, reject) => {
    const target = tunneled ? { socket: tunneled } : { host, port, allowHalfOpen: true };
    const socket: Socket = tls
      ? secure({ ...(isIP(host) === 0 && { servername: host }), checkServerIdentity, ...tls, ...target })
      : connect(target as { host: string; port: number });
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      socket.removeListener("error", settle);
      if (!error) return resolve(socket);
      socket.on("error", () => undefined);
      socket.destroy();
      reject(
        serviceUnavailable(
          `error trying to reach ${host}:${port}: ${connectionErrorText(error, { host, port })}`,
        ),
      );
    };
    const onAbort = (): void => settle(new Error("the client has gone"));
    const timer = setTimeout(
      () => settle(new Error(`no connection within ${timeoutMilliseconds} ms`)),
      timeoutMilliseconds || 30_000,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("error", settle);
    socket.once(tls ? "secureConnect" : "connect", () => settle());
  });
}
