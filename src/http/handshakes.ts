// Connections that have not finished their TLS handshake: they use a descriptor and memory before the client
// is authenticated, so their number is bounded. The oldest is evicted first, so that clients that complete
// their handshake promptly are not affected.
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

  /** Records the completed handshake of a TLS socket. */
  finished(socket: Socket): void {
    this.sockets.delete(keyOf(socket));
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
