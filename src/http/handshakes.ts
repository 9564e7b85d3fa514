// Connections that have not finished their TLS handshake: they cost a descriptor and memory before anybody is
// known, so their number is bounded. The oldest gives way, which lets clients that do their part through.
import type { Socket } from "node:net";

export class UnfinishedHandshakes {
  /** By address and port of the client, oldest first. */
  private readonly sockets = new Map<string, Socket>();
  private readonly limit: number;
  private readonly onEvicted: () => void;

  constructor(limit: number, onEvicted: () => void) {
    this.limit = limit;
    this.onEvicted = onEvicted;
  }

  get size(): number {
    return this.sockets.size;
  }

  add(socket: Socket): void {
    const key = keyOf(socket);
    this.sockets.set(key, socket);
    socket.once("close", () => this.sockets.get(key) === socket && this.sockets.delete(key));
    if (this.sockets.size <= this.limit) return;
    const [oldest, evicted] = this.sockets.entries().next().value!;
    this.sockets.delete(oldest);
    evicted.destroy();
    this.onEvicted();
  }

  /** The TLS socket over the connection, whose handshake is over. */
  finished(socket: Socket): void {
    this.sockets.delete(keyOf(socket));
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
