// A loopback port that nobody listens on, and that no other test is given while this process lives.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, type ListenOptions, type Server, createServer } from "node:net";

// Above those of well-known programs and below those that services get on nodes.
const [lowest, highest] = [25_000, 29_999];

export async function freePort(): Promise<number> {
  if (!canReserve()) return await portOfTheMoment();
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1));
    // A name that only one process can have, and that goes with it: whoever finds the port free meanwhile, because
    // its server has not started yet or was stopped to be started again, does not take it.
    const reservation = await listening({ path: `\0orch-test-port-${port}` });
    if (!reservation) continue;
    reservation.unref();
    const server = await listening({ host: "127.0.0.1", port });
    if (server) return await closed(server, port);
    await closed(reservation, port);
  }
}

/** The kernel gives these to nobody by itself, as it does with those above for each outgoing connection. */
function canReserve(): boolean {
  if (process.platform !== "linux") return false;
  const [first] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s/);
  return Number(first) > highest;
}

async function portOfTheMoment(): Promise<number> {
  const server = (await listening({ host: "127.0.0.1", port: 0 }))!;
  return await closed(server, (server.address() as AddressInfo).port);
}

/** Undefined where somebody else listens. */
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
