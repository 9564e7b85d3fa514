// The header fields of a request or its trailers, collected and validated: a malformed request (RFC 9113
// §8.1.1) is rejected before it reaches a handler.
import type { Field } from "./static-table.ts";

const token = new Uint8Array(128);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") token[char.charCodeAt(0)] = 1;

/** Fields specific to HTTP/1.1 connections (RFC 9113 §8.2.2). */
const connectionFields = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

const pseudoBits: Readonly<Record<string, number>> = {
  ":method": 1,
  ":path": 2,
  ":scheme": 4,
  ":authority": 8,
};
const unknownBit = 16;

type Headers = Record<string, string | readonly string[]>;

/**
 * Objects without a prototype chain. V8 treats the result of Object.create(null) as a hash table, whereas
 * instances of this constructor with the same names share a hidden class, which makes access and iteration
 * fast.
 */
const HeaderFields = function () {} as unknown as new () => Headers;
HeaderFields.prototype = Object.create(null) as Headers;

export class RequestHead {
  method = "";
  target = "";
  readonly headers = new HeaderFields();
  /** Why the request is malformed, if it is. */
  malformed: string | undefined;
  tooLarge = false;
  private scheme = "";
  /** One bit for each pseudo-header that has occurred. */
  private pseudoHeaders = 0;
  private hasRegular = false;
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
    const isPseudo = name.charCodeAt(0) === 58;
    const problem = (field.problem ??= isPseudo ? problemOfPseudo(name, value) : problemOf(name, value));
    if (isPseudo) this.pseudo(name, value);
    else this.regular(name, value);
    if (problem !== "") this.malformed ??= problem;
  }

  /** Reports whether there is any pseudo-header, which trailers must not contain. */
  get hasPseudoHeaders(): boolean {
    return this.pseudoHeaders !== 0;
  }

  /** Checks that the required fields of a request are present. */
  finish(): this {
    if (this.method === "CONNECT" || !this.method || !this.target || !this.scheme)
      this.malformed ??= "a request needs :method, :scheme and :path";
    else if (!this.target.startsWith("/") && !(this.target === "*" && this.method === "OPTIONS"))
      this.malformed ??= ":path does not start with a slash";
    return this;
  }

  private pseudo(name: string, value: string): void {
    if (this.hasRegular) this.malformed ??= `${name} follows a regular field`;
    const bit = pseudoBits[name] ?? unknownBit;
    if (bit !== unknownBit && this.pseudoHeaders & bit) this.malformed ??= `${name} is repeated`;
    this.pseudoHeaders |= bit;
    if (name === ":method") this.method = value;
    else if (name === ":path") this.target = value;
    else if (name === ":scheme") this.scheme = value;
    else if (name === ":authority") this.headers[name] = value;
  }

  private regular(name: string, value: string): void {
    this.hasRegular = true;
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

function problemOfPseudo(name: string, value: string): string {
  if (pseudoBits[name] === undefined) return `${name} is not a pseudo-header of requests`;
  return isFieldValue(value) ? "" : `${name} has an invalid value`;
}

function problemOf(name: string, value: string): string {
  if (!isFieldName(name)) return "a field name is invalid";
  if (!isFieldValue(value)) return `${name} has an invalid value`;
  if (connectionFields.has(name) || (name === "te" && value !== "trailers"))
    return `${name} is not allowed in HTTP/2`;
  return "";
}

function isFieldName(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code > 127 || token[code] === 0) return false;
  }
  return name.length > 0;
}

/** Rejects control characters, and spaces or tabs at either end (RFC 9113 §8.2.1). */
function isFieldValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if ((code < 32 && code !== 9) || code === 127) return false;
  }
  return !isSpace(value.charCodeAt(0)) && !isSpace(value.charCodeAt(value.length - 1));
}

const isSpace = (code: number): boolean => code === 32 || code === 9;
