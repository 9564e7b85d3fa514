// Returns a loopback port that has no listener and that no other test receives while this process lives.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, type ListenOptions, type Server, createServer } from "node:net";

// Above the ports of well-known programs and below the node ports of services.
const [lowest, highest] = [25_000, 29_999];

export async function freePort(): Promise<number> {
  if (!canReserve()) return await portOfTheMoment();
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1));
    // An abstract socket reserves the port until this process exits, so that no other test takes it while its
    // server has not been started yet or is being restarted.
    const reservation = await listening({ path: `\0orch-test-port-${port}` });
    if (!reservation) continue;
    reservation.unref();
    const server = await listening({ host: "127.0.0.1", port });
    if (server) return await closed(server, port);
    await closed(reservation, port);
  }
}

/**
 * Reports whether the kernel's ephemeral ports lie above the range, so that no outgoing connection takes one
 * of it.
 */
function canReserve(): boolean {
  if (process.platform !== "linux") return false;
  const [first] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s/);
  return Number(first) > highest;
}

async function portOfTheMoment(): Promise<number> {
  const server = (await listening({ host: "127.0.0.1", port: 0 }))!;
  return await closed(server, (server.address() as AddressInfo).port);
}

/** Returns undefined if the address is in use. */
async function listening(where: ListenOptions): Promise<Server | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });
}

async function closed(server: Server, port: number): Promise<number> {
  server.close();
  await once(server, "close");
  return port;
}
