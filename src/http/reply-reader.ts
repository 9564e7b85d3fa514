// Parses one HTTP/1.1 response from the bytes of a connection (RFC 9112 §4 to §7).

export interface WholeReply {
  readonly status: number;
  /** By lower-case name; the last value of a repeated header. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** The result also says whether the connection can be reused for another exchange. */
export type ReadStep = "more" | Error | { readonly reply: WholeReply; readonly reusable: boolean };

const maxHeadBytes = 16 * 1024;
const maxChunkLineBytes = 256;
const none = Buffer.alloc(0);

type Rest =
  | { readonly by: "length"; left: number }
  /** `left` is the number of missing bytes of the chunk; `trailer` follows the last chunk. */
  | { readonly by: "chunks"; left: number; part: "size" | "data" | "data end" | "trailer" }
  | { readonly by: "end of connection" };

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly minorVersion: string;
}

export class ReplyReader {
  /** Part of a response has been received. */
  started = false;
  readonly #maxBytes: number;
  #pending: Buffer = none;
  #head: Head | undefined;
  #rest: Rest | undefined;
  /** The first `#size` bytes are the body so far; the rest is spare room. */
  #body: Buffer = none;
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The head is complete, and the body is not. */
  get inBody(): boolean {
    return this.#head !== undefined;
  }

  take(bytes: Buffer): ReadStep {
    this.started = true;
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    while (!this.#head) {
      const problem = this.#readHead();
      if (problem) return problem;
    }
    return this.#readRest();
  }

  /** Called at the end of the connection: returns the response if that is how it ends. */
  end(): WholeReply | undefined {
    return this.#head && this.#rest?.by === "end of connection" ? this.#reply() : undefined;
  }

  /** Reads up to the empty line; interim responses are skipped. */
  #readHead(): ReadStep | undefined {
    const end = this.#pending.indexOf("\r\n\r\n");
    if (end < 0)
      return this.#pending.length > maxHeadBytes ? new Error("the answer's head is too large") : "more";
    if (end > maxHeadBytes) return new Error("the answer's head is too large");
    const head = parseHead(this.#pending.toString("latin1", 0, end));
    if (!head) return new Error("malformed HTTP response");
    this.#pending = this.#pending.subarray(end + 4);
    if (head.status >= 100 && head.status < 200)
      return head.status === 101 ? new Error("unexpected upgrade of the connection") : undefined;
    const rest = restOf(head);
    if (!rest) return new Error("malformed HTTP response");
    this.#head = head;
    this.#rest = rest;
    return undefined;
  }

  #readRest(): ReadStep {
    const rest = this.#rest!;
    switch (rest.by) {
      case "end of connection":
        return this.#keepBytes(this.#pending.length) ?? "more";
      case "length": {
        const problem = this.#keepBytes(Math.min(rest.left, this.#pending.length), rest);
        return problem ?? (rest.left > 0 ? "more" : this.#finished());
      }
      case "chunks":
        return this.#readChunks(rest);
    }
  }

  #readChunks(rest: Extract<Rest, { by: "chunks" }>): ReadStep {
    while (true) {
      if (rest.part === "data") {
        const problem = this.#keepBytes(Math.min(rest.left, this.#pending.length), rest);
        if (problem) return problem;
        if (rest.left > 0) return "more";
        rest.part = "data end";
      }
      const end = this.#pending.indexOf("\r\n");
      if (end > maxChunkLineBytes || (end < 0 && this.#pending.length > maxChunkLineBytes))
        return new Error("malformed chunked encoding");
      if (end < 0) return "more";
      const line = this.#pending.toString("latin1", 0, end);
      this.#pending = this.#pending.subarray(end + 2);
      if (rest.part === "trailer") {
        if (line === "") return this.#finished();
      } else if (rest.part === "data end") {
        if (line !== "") return new Error("malformed chunked encoding");
        rest.part = "size";
      } else {
        const size = /^([0-9a-f]{1,8})(?:[ \t]*;.*)?[ \t]*$/i.exec(line)?.[1];
        if (size === undefined) return new Error("malformed chunked encoding");
        rest.left = Number.parseInt(size, 16);
        rest.part = rest.left === 0 ? "trailer" : "data";
      }
    }
  }

  /** Moves pending bytes to the body. */
  #keepBytes(count: number, rest?: { left: number }): Error | undefined {
    if (count === 0) return undefined;
    const size = this.#size + count;
    if (size > this.#maxBytes) return new Error("the answer is too large");
    const bytes = this.#pending.subarray(0, count);
    if (this.#size === 0) this.#body = bytes;
    else {
      if (size > this.#body.length) {
        const larger = Buffer.allocUnsafe(size * 2);
        larger.set(this.#body.subarray(0, this.#size));
        this.#body = larger;
      }
      this.#body.set(bytes, this.#size);
    }
    this.#size = size;
    this.#pending = this.#pending.subarray(count);
    if (rest) rest.left -= count;
    return undefined;
  }

  #finished(): ReadStep {
    const { headers, minorVersion } = this.#head!;
    const connectionHeader = headers.get("connection")?.toLowerCase() ?? "";
    const persists =
      minorVersion === "1" ? !connectionHeader.includes("close") : connectionHeader.includes("keep-alive");
    // Unsolicited bytes follow the response.
    return { reply: this.#reply(), reusable: persists && this.#pending.length === 0 };
  }

  #reply(): WholeReply {
    const { status, headers } = this.#head!;
    return { status, headers, body: this.#body.subarray(0, this.#size) };
  }
}

/** Cache: the responses of a server have the same head for a second. */
let last: { readonly text: string; readonly head: Head } | undefined;

function parseHead(text: string): Head | undefined {
  if (last?.text === text) return last.head;
  const head = parsed(text);
  if (head) last = { text, head };
  return head;
}

function parsed(text: string): Head | undefined {
  const [line = "", ...fields] = text.split("\r\n");
  const found = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(line);
  if (!found) return undefined;
  const headers = new Map<string, string>();
  for (const field of fields) {
    const colon = field.indexOf(":");
    if (colon <= 0 || field.charCodeAt(0) <= 32) return undefined;
    headers.set(field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim());
  }
  return { status: Number(found[2]), headers, minorVersion: found[1]! };
}

/** Determines how the body is delimited (RFC 9112 §6.3). */
function restOf({ status, headers }: Head): Rest | undefined {
  if (status === 204 || status === 304) return { by: "length", left: 0 };
  const encoding = headers.get("transfer-encoding");
  if (encoding !== undefined)
    return encoding.toLowerCase() === "chunked" ? { by: "chunks", left: 0, part: "size" } : undefined;
  const length = headers.get("content-length");
  if (length === undefined) return { by: "end of connection" };
  return /^\d{1,15}$/.test(length) ? { by: "length", left: Number(length) } : undefined;
}
