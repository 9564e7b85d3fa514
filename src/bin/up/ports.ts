// Chooses a server port: the requested one, the previous one, or the first free one starting at the default.
import { once } from "node:events";
import { createServer } from "node:net";

const maxAttempts = 100;

export interface PortRequest {
  readonly host: string;
  readonly defaultPort: number;
  /** 0 if none was requested. */
  readonly requested?: number;
  /** 0 if there is no previous port. */
  readonly previous?: number;
}

export type PortChoice = { readonly port: number } | { readonly problem: string };

export async function choosePort({
  host,
  defaultPort,
  requested = 0,
  previous = 0,
}: PortRequest): Promise<PortChoice> {
  const candidates =
    requested > 0
      ? [requested]
      : [
          ...(previous > 0 ? [previous] : []),
          ...Array.from({ length: maxAttempts }, (_, at) => defaultPort + at),
        ];
  for (const port of candidates) {
    const errorCode = await tryPort(host, port);
    if (errorCode === undefined) return { port };
    if (errorCode === "EADDRINUSE") continue;
    if (errorCode === "EADDRNOTAVAIL")
      return { problem: `this machine has no address ${host}; choose another with --bind-address` };
    if (requested > 0)
      return {
        problem: `port ${port} on ${host} ${errorCode === "EACCES" ? "is not permitted for this user" : `cannot be used (${errorCode})`}; choose another with --port`,
      };
  }
  return {
    problem: `${requested > 0 ? `port ${requested} is` : `ports ${defaultPort} to ${defaultPort + maxAttempts - 1} are`} in use on ${host}; choose another with --port`,
  };
}

/** Tries to listen on a port; returns the error code, or undefined on success. */
async function tryPort(host: string, port: number): Promise<string | undefined> {
  const server = createServer().listen({ host, port, exclusive: true });
  try {
    await once(server, "listening");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
  server.close();
  await once(server, "close");
  return undefined;
}
