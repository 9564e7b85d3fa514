// Health check node ports: load balancers query whether this node has backends of a service with the Local
// traffic policy.
import { type Server, createServer } from "node:http";
import type { Log } from "#base";

export interface HealthPort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly localEndpoints: number;
}

export interface HealthPorts {
  /** Serves exactly these ports. */
  sync(wanted: readonly HealthPort[]): void;
  close(): void;
}

const maxConnections = 100;

export function healthPorts(log: Log, address?: string): HealthPorts {
  const open = new Map<number, { readonly server: Server; state: HealthPort }>();
  const listen = (state: HealthPort): void => {
    const entry = { server: createServer(), state };
    entry.server.maxConnections = maxConnections;
    entry.server.on("request", (_request, response) => {
      const { namespace, name, localEndpoints } = entry.state;
      response.setHeader("content-type", "application/json");
      response.setHeader("x-content-type-options", "nosniff");
      response.statusCode = localEndpoints > 0 ? 200 : 503;
      response.end(
        `{\n\t"service": {\n\t\t"namespace": ${JSON.stringify(namespace)},\n\t\t"name": ${JSON.stringify(name)}\n\t},\n\t"localEndpoints": ${localEndpoints}\n}`,
      );
    });
    entry.server.once("error", (error) => {
      log.warn("cannot listen on health check port", { port: state.port, error: error.message });
      open.delete(state.port);
    });
    entry.server.listen(state.port, address);
    open.set(state.port, entry);
  };
  const end = (port: number): void => {
    const entry = open.get(port);
    open.delete(port);
    entry?.server.closeAllConnections();
    entry?.server.close();
  };
  return {
    sync: (wanted) => {
      const byPort = new Map(wanted.map((each) => [each.port, each]));
      for (const port of open.keys()) if (!byPort.has(port)) end(port);
      for (const [port, state] of byPort) {
        const entry = open.get(port);
        if (entry) entry.state = state;
        else listen(state);
      }
    },
    close: () => {
      for (const port of open.keys()) end(port);
    },
  };
}
