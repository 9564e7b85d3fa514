// A proxy in front of a server whose connections can be cut at any time, or stalled, which passes no data and
// loses none.
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Cuts all connections and returns their number. */
  cut(): number;
  /** Stalls all connections, including new ones, until `letGo`. */
  hold(): void;
  letGo(): void;
}

export async function cuttingProxy(target: number): Promise<CuttingProxy> {
  /** Each client connection with its connection to the server. */
  const open = new Map<Socket, Socket>();
  let held = false;
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.set(one, other);
      one.on("error", () => undefined);
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      if (!held) one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): number => {
    const all = [...open.keys()];
    for (const socket of all) socket.resetAndDestroy();
    return all.length / 2;
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    hold: () => {
      held = true;
      for (const [one, other] of open) one.unpipe(other);
    },
    letGo: () => {
      held = false;
      for (const [one, other] of open) one.pipe(other);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
    },
  };
}
