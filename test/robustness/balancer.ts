// A TCP balancer like those in front of API servers: it probes each server's readiness, distributes new
// connections over the ready ones, and closes connections to a server that has been unready for a while.
import { once } from "node:events";
import { get } from "node:https";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

export interface BalancedServer {
  readonly url: string;
  readonly ca: string;
}

export interface Balancer extends AsyncDisposable {
  readonly port: number;
  /** Number of ready servers. */
  ready(): number;
}

const probeMilliseconds = 200;
const probeTimeoutMilliseconds = 1000;
/** Number of consecutive probes answered with anything but 200 after which a server is taken out. */
const failuresUntilDown = 2;
/** How long connections to a server that was taken out may end by themselves. */
const drainMilliseconds = 2000;

interface Backend {
  readonly port: number;
  readonly server: BalancedServer;
  readonly sockets: Set<Socket>;
  failures: number;
  downSince: number;
}

export async function tcpBalancer(servers: readonly BalancedServer[]): Promise<Balancer> {
  const backends = servers.map((server): Backend => ({
    port: Number(new URL(server.url).port),
    server,
    sockets: new Set(),
    failures: 0,
    downSince: 0,
  }));
  let turn = 0;
  const chosen = (): Backend | undefined => {
    const ready = backends.filter(({ failures }) => failures < failuresUntilDown);
    return ready[turn++ % ready.length];
  };
  const listener = createServer((near) => {
    const backend = chosen();
    if (!backend) {
      near.destroy();
      return;
    }
    const far = connect(backend.port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      backend.sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        backend.sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const probes = backends.map((backend) => setInterval(() => void probe(backend), probeMilliseconds).unref());
  return {
    port: (listener.address() as AddressInfo).port,
    ready: () => backends.filter(({ failures }) => failures === 0).length,
    [Symbol.asyncDispose]: async () => {
      probes.forEach(clearInterval);
      listener.close();
      for (const { sockets } of backends) for (const socket of sockets) socket.destroy();
    },
  };
}

async function probe(backend: Backend): Promise<void> {
  if (await isReady(backend.server)) backend.failures = 0;
  else if (++backend.failures === failuresUntilDown) backend.downSince = Date.now();
  if (backend.failures >= failuresUntilDown && Date.now() > backend.downSince + drainMilliseconds)
    for (const socket of backend.sockets) socket.resetAndDestroy();
}

function isReady({ url, ca }: BalancedServer): Promise<boolean> {
  return new Promise((resolve) => {
    const timeout = probeTimeoutMilliseconds;
    const outgoing = get(new URL("/readyz", url), { ca, agent: false, timeout }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer")));
    outgoing.on("error", () => resolve(false));
  });
}
