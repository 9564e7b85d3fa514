// Chooses a server port: the requested one, the previous one, or the first free one starting at the default.
import { once } from "node:events";
import { createServer } from "node:net";

const tries = 100;

export interface PortWish {
  readonly host: string;
  readonly usual: number;
  /** 0 if none was requested. */
  readonly asked?: number;
  /** 0 if there is no previous port. */
  readonly before?: number;
}

export type PortChoice = { readonly port: number } | { readonly problem: string };

export async function choosePort({ host, usual, asked = 0, before = 0 }: PortWish): Promise<PortChoice> {
  const candidates =
    asked > 0
      ? [asked]
      : [...(before > 0 ? [before] : []), ...Array.from({ length: tries }, (_, at) => usual + at)];
  for (const port of candidates) {
    const refusal = await tryPort(host, port);
    if (refusal === undefined) return { port };
    if (refusal === "EADDRINUSE") continue;
    if (refusal === "EADDRNOTAVAIL")
      return { problem: `this machine has no address ${host}; choose another with --bind-address` };
    if (asked > 0)
      return {
        problem: `port ${port} on ${host} ${refusal === "EACCES" ? "may not be used by this user" : `cannot be used (${refusal})`}; choose another with --port`,
      };
  }
  return {
    problem: `${asked > 0 ? `port ${asked} is` : `ports ${usual} to ${usual + tries - 1} are`} taken on ${host}; choose another with --port`,
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
