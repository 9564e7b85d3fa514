// DNS server sockets: UDP and TCP on one port, restricted to allowed clients, with limits on connections and
// pending queries.
import { type Socket as UdpSocket, createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, BlockList, type Socket, createServer, isIPv6 } from "node:net";
import { type ClientLimit, clientLimit } from "#base";
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
const maxConnectionsPerClient = 32;
const maxPendingPerConnection = 64;
const maxPendingDatagrams = 2048;
const idleMilliseconds = 10_000;

export async function startDnsServer(options: DnsServerOptions): Promise<RunningDnsServer> {
  const isAllowed = allowed(options.allowed);
  const connectionLimit = clientLimit(maxConnectionsPerClient);
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => void (await Promise.all(closers.map((each) => each())));
  let { port } = options;
  try {
    for (const address of options.addresses) {
      const tcp = await listenTcp(options, address, port, { isAllowed, connectionLimit });
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
  const closing = new AbortController();
  serveDatagrams(socket, {
    resolve,
    isAllowed,
    onError,
    signal: AbortSignal.any([signal, closing.signal]),
  });
  socket.bind({ address, port });
  await once(socket, "listening");
  socket.on("error", onError);
  return () => {
    closing.abort();
    return new Promise((done) => socket.close(() => done()));
  };
}

/** Answers the queries that a socket receives, until the signal is aborted. */
export function serveDatagrams(
  socket: UdpSocket,
  {
    resolve,
    isAllowed,
    onError,
    signal,
  }: Pick<DnsServerOptions, "resolve" | "onError" | "signal"> & {
    readonly isAllowed: (address: string) => boolean;
  },
): void {
  let pending = 0;
  socket.on("message", (message, client) => {
    const from = client.address.split("%")[0]!;
    // Anyone with a raw socket can send from port 0, to which no reply can be sent.
    if (client.port === 0 || !isAllowed(from) || pending >= maxPendingDatagrams) return;
    pending += 1;
    resolve(message, { address: from, over: "udp" })
      .then((reply) => {
        if (reply && !signal.aborted) socket.send(reply, client.port, client.address, () => undefined);
      })
      .catch(onError)
      .finally(() => (pending -= 1));
  });
}

async function listenTcp(
  { resolve, onError }: DnsServerOptions,
  address: string,
  port: number,
  clients: { readonly isAllowed: (address: string) => boolean; readonly connectionLimit: ClientLimit },
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    const from = (socket.remoteAddress ?? "").split("%")[0]!;
    const release = clients.isAllowed(from) ? clients.connectionLimit.acquire(from) : undefined;
    if (!release) return socket.destroy();
    connections.add(socket);
    socket.once("close", () => {
      connections.delete(socket);
      release();
    });
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

/**
 * Serves length-prefixed messages; replies are sent as soon as they are ready. No query is read while the client
 * leaves replies unread.
 */
export function serveConnection(
  socket: Socket,
  resolve: (message: Uint8Array) => Promise<Uint8Array | undefined>,
  onError: (error: Error) => void,
): void {
  let received = Buffer.alloc(0);
  let pending = 0;
  socket.setTimeout(idleMilliseconds, () => socket.destroy());
  socket.on("error", () => undefined);
  const isBusy = (): boolean => pending >= maxPendingPerConnection || socket.writableNeedDrain;
  const send = (reply: Uint8Array): void => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    socket.write(Buffer.concat([length, reply]));
  };
  const processMessages = (): void => {
    while (received.length >= 2 && !isBusy()) {
      const end = 2 + received.readUInt16BE(0);
      if (received.length < end) break;
      const message = received.subarray(2, end);
      received = received.subarray(end);
      pending += 1;
      void resolve(message)
        .then((reply) => (reply ? send(reply) : socket.destroy()))
        .catch(onError)
        .finally(() => {
          pending -= 1;
          processMessages();
        });
    }
    if (isBusy()) socket.pause();
    else socket.resume();
  };
  socket.on("drain", processMessages);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    processMessages();
  });
}
