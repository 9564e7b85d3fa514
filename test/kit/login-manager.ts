// A D-Bus socket with a login manager, for node shutdowns: it answers the agent's calls, signals shutdowns,
// and records when the inhibitor lock that delays a shutdown is released.
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { type Server, type Socket, createServer } from "node:net";
import { delimiter, join } from "node:path";
import { type DbusMessage, decodeDbusMessage } from "#nodeagent";

export interface LoginManager extends AsyncDisposable {
  /** Environment variables for the agent. */
  readonly environment: Readonly<Record<string, string>>;
  /** Signals that a shutdown begins or has been cancelled. */
  prepareForShutdown(begins: boolean): void;
  /** The states of the lock so far, such as `held` and `released`. */
  lock(): Promise<readonly string[]>;
}

const longestDelayMicroseconds = 60_000_000n;
const nothing = Buffer.alloc(0);
/** The connection that owns the name of the login manager. */
const owner = ":1.7";

export async function loginManager(folder: string): Promise<LoginManager> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, "bus");
  const lockFile = join(folder, "lock");
  // The lock is an open file, which the agent leaves to this program; the program records how long it is
  // open.
  const inhibit = join(folder, "systemd-inhibit");
  await writeFile(
    inhibit,
    `#!/bin/sh\nwhile [ "\${1#--}" != "$1" ]; do shift; done\necho held >> ${lockFile}\n"$@"\necho released >> ${lockFile}\n`,
  );
  await chmod(inhibit, 0o755);
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket);
    socket.on("close", () => clients.delete(socket));
    socket.on("error", () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    environment: {
      DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${path}`,
      PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`,
    },
    prepareForShutdown: (begins) => {
      for (const socket of clients) socket.write(shutdownSignal(begins));
    },
    lock: async () => (await readFile(lockFile, "utf8").catch(() => "")).split("\n").filter(Boolean),
    [Symbol.asyncDispose]: () => closed(server, clients),
  };
}

/**
 * The line-based handshake, then messages: every call is answered, with an empty reply unless it reads the
 * delay.
 */
function serve(socket: Socket): void {
  let begun = false;
  let bytes: Buffer = nothing;
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (!begun) {
      const end = bytes.indexOf("BEGIN\r\n");
      if (end < 0) {
        if (bytes.includes("AUTH EXTERNAL")) socket.write(`OK ${"0".repeat(32)}\r\n`);
        return;
      }
      begun = true;
      bytes = bytes.subarray(end + "BEGIN\r\n".length);
    }
    for (let found = decodeDbusMessage(bytes); found; found = decodeDbusMessage(bytes)) {
      bytes = bytes.subarray(found.length);
      socket.write(answerTo(found.message));
    }
  });
}

function answerTo({ serial, member }: DbusMessage): Buffer {
  const reply = field(5, "u", uint32(serial));
  if (member === "GetNameOwner") return message(2, [reply, field(8, "g", signature("s"))], text(owner));
  if (member !== "Get") return message(2, [reply], nothing);
  // A variant: its signature, padding, and the delay as a 64-bit number.
  const delay = Buffer.alloc(16);
  delay.write("\u0001t", "latin1");
  delay.writeBigUInt64LE(longestDelayMicroseconds, 8);
  return message(2, [reply, field(8, "g", signature("v"))], delay);
}

const shutdownSignal = (begins: boolean): Buffer =>
  message(
    4,
    [
      field(1, "o", text("/org/freedesktop/login1")),
      field(2, "s", text("org.freedesktop.login1.Manager")),
      field(3, "s", text("PrepareForShutdown")),
      field(7, "s", text(owner)),
      field(8, "g", signature("b")),
    ],
    uint32(begins ? 1 : 0),
  );

function message(type: number, fields: readonly Buffer[], body: Buffer): Buffer {
  const header = Buffer.concat(
    fields.flatMap((one, at) => [one, at < fields.length - 1 ? padding(one.length) : nothing]),
  );
  const fixed = Buffer.concat([
    Buffer.from([0x6c, type, 1, 1]),
    uint32(body.length),
    uint32(1),
    uint32(header.length),
  ]);
  return Buffer.concat([fixed, header, padding(header.length), body]);
}

/** A header field: its number, its type and its value, which is aligned to four bytes. */
const field = (number: number, type: string, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([number]), signature(type), value]);
const padding = (length: number): Buffer => Buffer.alloc(-length & 7);
const signature = (of: string): Buffer => Buffer.from(`${String.fromCharCode(of.length)}${of}\0`, "latin1");
const text = (value: string): Buffer =>
  Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(`${value}\0`)]);
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

async function closed(server: Server, clients: ReadonlySet<Socket>): Promise<void> {
  for (const socket of clients) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}
