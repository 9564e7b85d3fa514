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

const mostConnections = 100;

export function healthPorts(log: Log, address?: string): HealthPorts {
  const open = new Map<number, { readonly server: Server; told: HealthPort }>();
  const listen = (told: HealthPort): void => {
    const entry = { server: createServer(), told };
    entry.server.maxConnections = mostConnections;
    entry.server.on("request", (_request, response) => {
      const { namespace, name, localEndpoints } = entry.told;
      response.setHeader("content-type", "application/json");
      response.setHeader("x-content-type-options", "nosniff");
      response.statusCode = localEndpoints > 0 ? 200 : 503;
      response.end(
        `{\n\t"service": {\n\t\t"namespace": ${JSON.stringify(namespace)},\n\t\t"name": ${JSON.stringify(name)}\n\t},\n\t"localEndpoints": ${localEndpoints}\n}`,
      );
    });
    entry.server.once("error", (error) => {
      log.warn("a health check port cannot be served", { port: told.port, error: error.message });
      open.delete(told.port);
    });
    entry.server.listen(told.port, address);
    open.set(told.port, entry);
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
      for (const [port, told] of byPort) {
        const entry = open.get(port);
        if (entry) entry.told = told;
        else listen(told);
      }
    },
    close: () => {
      for (const port of open.keys()) end(port);
    },
  };
}
