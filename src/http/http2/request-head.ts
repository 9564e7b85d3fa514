// The fields of a request gathered and checked: what is malformed is refused before any handler sees it.
import type { Field } from "./static-table.ts";

const token = new Uint8Array(128);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") token[char.charCodeAt(0)] = 1;

const forbidden = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

export class RequestHead {
  method = "";
  target = "";
  readonly headers: Record<string, string | readonly string[]> = Object.create(null) as Record<
    string,
    string
  >;
  /** Why no handler may see this, if so. */
  malformed: string | undefined;
  tooLarge = false;
  private scheme = "";
  private plain = false;
  private bytes = 0;
  private readonly limit: number;
  private readonly targetLimit: number;

  constructor(limitBytes: number, targetLimitBytes: number) {
    this.limit = limitBytes;
    this.targetLimit = targetLimitBytes;
  }

  add(field: Field): void {
    const { name, value } = field;
    const isTarget = name === ":path";
    if (!isTarget) this.bytes += name.length + value.length + 32;
    if (this.bytes > this.limit || (isTarget && value.length > this.targetLimit)) {
      this.tooLarge = true;
      return;
    }
    if (name.charCodeAt(0) === 58) this.pseudo(name, value);
    else this.regular(name, value);
  }

  /** Checks that all is there that a request needs. */
  finish(): this {
    if (this.method === "CONNECT" || !this.method || !this.target || !this.scheme)
      this.malformed ??= "a request needs :method, :scheme and :path";
    return this;
  }

  private pseudo(name: string, value: string): void {
    if (this.plain) this.malformed ??= `${name} comes after a header`;
    if (name === ":method") this.method = this.once(name, this.method, value);
    else if (name === ":path") this.target = this.once(name, this.target, value);
    else if (name === ":scheme") this.scheme = this.once(name, this.scheme, value);
    else if (name === ":authority") this.headers[name] = value;
    else this.malformed ??= `${name} does not belong in a request`;
    if (!isText(value)) this.malformed ??= `${name} has a character that may not be there`;
  }

  private once(name: string, before: string, value: string): string {
    if (before) this.malformed ??= `${name} comes twice`;
    return value;
  }

  private regular(name: string, value: string): void {
    this.plain = true;
    if (!isToken(name)) this.malformed ??= "a header's name has a character that may not be there";
    else if (!isText(value)) this.malformed ??= `${name} has a character that may not be there`;
    else if (forbidden.has(name) || (name === "te" && value !== "trailers"))
      this.malformed ??= `${name} does not belong in HTTP/2`;
    const known = this.headers[name];
    if (known === undefined) this.headers[name] = value;
    else
      this.headers[name] =
        name === "cookie"
          ? `${known as string}; ${value}`
          : typeof known === "string"
            ? [known, value]
            : [...known, value];
  }
}

function isToken(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code > 127 || token[code] === 0) return false;
  }
  return name.length > 0;
}

function isText(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if ((code < 32 && code !== 9) || code === 127) return false;
  }
  return true;
}
