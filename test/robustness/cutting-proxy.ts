// A proxy in front of a server, whose connections can be cut at any time.
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Cuts every connection there is; says how many. */
  cut(): number;
}

export async function cuttingProxy(target: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): number => {
    const all = [...open];
    for (const socket of all) socket.resetAndDestroy();
    return all.length / 2;
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
    },
  };
}
