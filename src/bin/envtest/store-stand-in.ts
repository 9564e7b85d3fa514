// Stand-in for the store that test harnesses start: answers their health check and stores nothing. The API
// server of the same folder recognizes it by its version and keeps data in memory.
import { once } from "node:events";
import { type Server, createServer } from "node:http";

/** The version that the stand-in reports. */
export const standInVersion = "orch-stand-in";

const clientUrls = "--listen-client-urls";

// Harnesses search this text for flags that only some releases of the store have, one at the start of a line.
const usage = `Usage:
  etcd [flags]

Stands in for the store: answers health checks and stores nothing. All flags of
the store are accepted; those that have an effect:

  --listen-client-urls 'http://127.0.0.1:2379'
        Address that health checks are sent to.
  --version 'false'
        Print the version and exit.

Accepted without effect, since there is no data:

  --data-dir ''
  --unsafe-no-fsync 'false'
`;

/**
 * Returns the addresses to listen on: one, or both loopback addresses for `localhost`, which may resolve to
 * either.
 */
function addressesOf(args: readonly string[]): { readonly host: string; readonly port: number }[] {
  const at = args.findIndex((arg) => arg === clientUrls || arg.startsWith(`${clientUrls}=`));
  const given =
    at < 0 ? undefined : args[at]!.includes("=") ? args[at]!.slice(clientUrls.length + 1) : args[at + 1];
  const first = (given ?? "http://127.0.0.1:2379").split(",")[0]!;
  const { hostname, port } = new URL(first);
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  return (host === "localhost" ? ["127.0.0.1", "::1"] : [host]).map((each) => ({
    host: each,
    port: port === "" ? 2379 : Number(port),
  }));
}

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

export async function storeStandIn(
  args: readonly string[],
  output: Output,
  stop: Promise<unknown>,
): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    output.out(usage);
    return 0;
  }
  if (args.includes("--version")) {
    output.out(`etcd Version: 3.5.0\nGit SHA: ${standInVersion}\n`);
    return 0;
  }
  const servers: Server[] = [];
  try {
    const [first, ...others] = addressesOf(args);
    servers.push(await listen(first!.host, first!.port));
    // The IPv6 loopback address is optional.
    for (const { host, port } of others)
      await listen(host, port).then(
        (server) => servers.push(server),
        () => undefined,
      );
  } catch (error) {
    output.err(`error: ${(error as Error).message}\n`);
    return 1;
  }
  await stop;
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  return 0;
}

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0];
    const body =
      path === "/health"
        ? { health: "true", reason: "" }
        : path === "/version"
          ? { etcdserver: standInVersion, etcdcluster: standInVersion }
          : undefined;
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" });
    response.end(body && JSON.stringify(body));
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "EADDRINUSE"
      ? new Error(`listen tcp ${host}:${port}: bind: address already in use`)
      : error;
  }
  return server;
}
