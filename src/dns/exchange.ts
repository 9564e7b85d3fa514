// Sends one DNS message to a server and receives its reply, over UDP from an unpredictable port, or over TCP.
import { createSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import type { Exchange, Upstream } from "./forwarder.ts";

export const exchange: Exchange = (upstream, message, over, signal) =>
  over === "udp" ? overUdp(upstream, message, signal) : overTcp(upstream, message, signal);

function overUdp({ address, port }: Upstream, message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    let isOpen = true;
    const end = (): void => {
      // A send that is still queued fails once the socket is closed.
      if (!isOpen) return;
      isOpen = false;
      signal.removeEventListener("abort", abort);
      socket.close();
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
    };
    const abort = (): void => fail(new Error(`${address} did not answer`));
    signal.addEventListener("abort", abort, { once: true });
    socket.on("error", fail);
    // Spoofed messages may arrive at the port; ignore those with another message ID.
    socket.on("message", (reply) => {
      if (reply.length < 12 || reply[0] !== message[0] || reply[1] !== message[1]) return;
      end();
      resolve(reply);
    });
    // A connected socket receives messages from its peer only.
    socket.connect(port, address, () => socket.send(message, (error) => error && fail(error)));
  });
}

function overTcp({ address, port }: Upstream, message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host: address, port });
    const abort = (): void => void socket.destroy(new Error(`${address} did not answer`));
    signal.addEventListener("abort", abort, { once: true });
    let received = Buffer.alloc(0);
    socket.once("connect", () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      socket.write(Buffer.concat([length, message]));
    });
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      resolve(received.subarray(2, 2 + received.readUInt16BE(0)));
      socket.destroy();
    });
    socket.once("error", reject);
    socket.once("close", () => {
      signal.removeEventListener("abort", abort);
      reject(new Error(`${address} closed the connection`));
    });
  });
}
