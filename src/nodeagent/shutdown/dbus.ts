// A connection to the D-Bus system bus: method calls, and signals.
import { type Socket, connect } from "node:net";
import {
  type DbusCall,
  type DbusMessage,
  type DbusValue,
  decodeMessage,
  encodeCall,
} from "./dbus-message.ts";

export interface Dbus {
  call(call: DbusCall): Promise<readonly DbusValue[]>;
  /** Calls the listener with every signal matched by `AddMatch`. */
  onSignal(listener: (message: DbusMessage) => void): void;
  /** Resolves when the connection is closed for any reason. */
  readonly closed: Promise<void>;
  close(): void;
}

const defaultAddress = "unix:path=/run/dbus/system_bus_socket";
const maxBytes = 1 << 20;

export const busAddress = (): string => process.env["DBUS_SYSTEM_BUS_ADDRESS"] || defaultAddress;

/** Connects, authenticates by user ID, and registers with Hello. */
export async function connectDbus(address = busAddress()): Promise<Dbus> {
  const path = /(?:^|;)unix:(?:.*,)?path=([^,;]+)/.exec(address)?.[1];
  if (!path) throw new Error(`the bus address ${JSON.stringify(address)} does not name a socket`);
  const socket = connect({ path });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  try {
    await authenticate(socket);
    const bus = talk(socket);
    await bus.call({
      destination: "org.freedesktop.DBus",
      path: "/org/freedesktop/DBus",
      interface: "org.freedesktop.DBus",
      member: "Hello",
    });
    return bus;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

const connectionClosed = (): Error => new Error("the connection to the bus was closed");

function authenticate(socket: Socket): Promise<void> {
  const user = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
  return new Promise((resolve, reject) => {
    socket.once("data", (answer: Buffer) => {
      if (!answer.toString().startsWith("OK ")) {
        reject(new Error("the bus rejected our user ID"));
        return;
      }
      socket.write("BEGIN\r\n");
      resolve();
    });
    socket.once("error", reject);
    socket.once("close", () => reject(connectionClosed()));
    socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
  });
}

function talk(socket: Socket): Dbus {
  const waiting = new Map<
    number,
    { resolve(body: readonly DbusValue[]): void; reject(error: Error): void }
  >();
  const listeners: ((message: DbusMessage) => void)[] = [];
  const closed = Promise.withResolvers<void>();
  let serial = 0;
  let bytes: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > maxBytes) socket.destroy(new Error("message of the bus is too long"));
    try {
      for (let found = decodeMessage(bytes); found; found = decodeMessage(bytes)) {
        bytes = bytes.subarray(found.length);
        take(found.message);
      }
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    for (const { reject } of waiting.values()) reject(connectionClosed());
    waiting.clear();
    closed.resolve();
  });
  socket.unref();
  return {
    closed: closed.promise,
    close: () => socket.destroy(),
    onSignal: (listener) => void listeners.push(listener),
    call: (call) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) {
          reject(connectionClosed());
          return;
        }
        serial++;
        waiting.set(serial, { resolve, reject });
        socket.write(encodeCall(call, serial));
      }),
  };

  function take(message: DbusMessage): void {
    if (message.type === "signal") for (const listener of listeners) listener(message);
    const pending = waiting.get(message.replySerial ?? 0);
    if (!pending) return;
    waiting.delete(message.replySerial!);
    if (message.type === "return") pending.resolve(message.body);
    else pending.reject(new Error(`${message.errorName}: ${String(message.body[0] ?? "")}`));
  }
}
