// An address that only this machine and its pods can reach: the DNS server listens there, and pods reach the
// API server there although it listens on the loopback interface.
import { spawnSync } from "node:child_process";
import { type Server, type Socket, connect, createServer } from "node:net";
import { once } from "node:events";
import { clientLimit } from "#base";
import { systemPath } from "./system-path.ts";

/** Returns an address derived from the cluster's id, outside of the pod range (see pod-network.ts). */
export const localAddressOf = (id: string): string => {
  const seed = Number.parseInt(id, 16);
  return `10.127.${(seed >>> 8) % 256}.${1 + (seed % 254)}`;
};

/** Adds the address to the machine; returns an error text, or undefined. */
export function addLocalAddress(address: string): string | undefined {
  const { status, stderr, error } = ip("replace", address);
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

export const removeLocalAddress = (address: string): void => void ip("del", address);

const ip = (verb: string, address: string) =>
  spawnSync("ip", ["address", verb, `${address}/32`, "dev", "lo"], {
    encoding: "utf8",
    env: { PATH: systemPath },
  });

export interface Relay {
  close(): void;
}

const maxConnections = 1000;
/** A fraction of all connections: those of one pod must leave other pods room. */
export const maxConnectionsPerClient = 100;

/** Forwards TCP connections to a port of the loopback interface. */
export async function startRelay(
  address: string,
  port: number,
  to: { readonly host: string; readonly port: number },
): Promise<Relay> {
  const open = new Set<Socket>();
  const limit = clientLimit(maxConnectionsPerClient);
  const server: Server = createServer((socket) => {
    const release = limit.acquire(socket.remoteAddress ?? "");
    if (!release) return void socket.destroy();
    socket.once("close", release);
    const other = connect(to);
    for (const [each, peer] of [
      [socket, other],
      [other, socket],
    ] as const) {
      open.add(each);
      each.on("error", () => undefined);
      each.once("close", () => {
        open.delete(each);
        peer.destroy();
      });
      each.pipe(peer);
    }
  });
  server.maxConnections = maxConnections;
  server.listen(port, address);
  await once(server, "listening");
  return {
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
