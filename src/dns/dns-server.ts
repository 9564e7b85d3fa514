// DNS server sockets: UDP and TCP on one port, restricted to allowed clients, with limits on connections and
// pending queries.
import { type Socket as UdpSocket, createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, BlockList, type Socket, createServer, isIPv6 } from "node:net";
import { type Cidr, parseCidr } from "#options";
import type { Resolver } from "./resolver.ts";

export interface DnsServerOptions {
  readonly addresses: readonly string[];
  /** 0 selects a free port, the same for all addresses. */
  readonly port: number;
  /** CIDRs of clients; queries of others are dropped. */
  readonly allowed: readonly string[];
  readonly resolve: Resolver;
  readonly signal: AbortSignal;
  readonly onError: (error: Error) => void;
}

export interface RunningDnsServer {
  readonly port: number;
  close(): Promise<void>;
}

const maxConnections = 256;
const maxPendingPerConnection = 64;
const maxPendingDatagrams = 2048;
const idleMilliseconds = 10_000;

export async function startDnsServer(options: DnsServerOptions): Promise<RunningDnsServer> {
  const isAllowed = allowed(options.allowed);
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => void (await Promise.all(closers.map((each) => each())));
  let { port } = options;
  try {
    for (const address of options.addresses) {
      const tcp = await listenTcp(options, address, port, isAllowed);
      closers.push(tcp.close);
      port = tcp.port;
      closers.push(await listenUdp(options, address, port, isAllowed));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { port, close };
}

/** Returns a predicate for addresses in any of the ranges. */
function allowed(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, bits, family } of ranges.map((each): Cidr => parseCidr(each)))
    list.addSubnet(address, bits, family === 6 ? "ipv6" : "ipv4");
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

async function listenUdp(
  { resolve, signal, onError }: DnsServerOptions,
  address: string,
  port: number,
  isAllowed: (address: string) => boolean,
): Promise<() => Promise<void>> {
  const socket: UdpSocket = createSocket(
    isIPv6(address) ? { type: "udp6", ipv6Only: true } : { type: "udp4" },
  );
  let pending = 0;
  let open = true;
  socket.on("message", (message, client) => {
    const from = client.address.split("%")[0]!;
    if (!isAllowed(from) || pending >= maxPendingDatagrams) return;
    pending += 1;
    resolve(message, { address: from, over: "udp" })
      .then((reply) => {
        if (reply && open && !signal.aborted)
          socket.send(reply, client.port, client.address, () => undefined);
      }, onError)
      .finally(() => (pending -= 1));
  });
  socket.bind({ address, port });
  await once(socket, "listening");
  socket.on("error", onError);
  return () => {
    open = false;
    return new Promise((done) => socket.close(() => done()));
  };
}

async function listenTcp(
  { resolve, onError }: DnsServerOptions,
  address: string,
  port: number,
  isAllowed: (address: string) => boolean,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    const from = (socket.remoteAddress ?? "").split("%")[0]!;
    if (!isAllowed(from)) return socket.destroy();
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    serveConnection(socket, (message) => resolve(message, { address: from, over: "tcp" }), onError);
    return socket;
  });
  server.maxConnections = maxConnections;
  server.listen({ host: address, port, ipv6Only: true });
  await once(server, "listening");
  server.on("error", onError);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Serves length-prefixed messages; replies are sent as soon as they are ready. */
function serveConnection(
  socket: Socket,
  resolve: (message: Uint8Array) => Promise<Uint8Array | undefined>,
  onError: (error: Error) => void,
): void {
  let received = Buffer.alloc(0);
  let pending = 0;
  socket.setTimeout(idleMilliseconds, () => socket.destroy());
  socket.on("error", () => undefined);
  const processMessages = (): void => {
    while (received.length >= 2 && pending < maxPendingPerConnection) {
      const end = 2 + received.readUInt16BE(0);
      if (received.length < end) break;
      const message = received.subarray(2, end);
      received = received.subarray(end);
      pending += 1;
      void resolve(message)
        .then((reply) => {
          if (!reply) return socket.destroy();
          const length = Buffer.alloc(2);
          length.writeUInt16BE(reply.length);
          return socket.write(Buffer.concat([length, reply]));
        }, onError)
        .finally(() => {
          pending -= 1;
          processMessages();
        });
    }
    if (pending >= maxPendingPerConnection) socket.pause();
    else socket.resume();
  };
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    processMessages();
  });
}
