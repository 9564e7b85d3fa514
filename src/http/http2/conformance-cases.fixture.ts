// HTTP/2 conformance cases: the type of a case, and short names for the frames they send.
import { errorCode, flag, frame, numbersFrame } from "./frames.ts";
import { type Frame, getBlock, literal, made } from "./raw-client.fixture.ts";

/** The expected reaction. A stream error may also be treated as a connection error (RFC 9113 §5.4.1). */
export type Expected =
  | { readonly connectionError: readonly number[] }
  | { readonly streamError: readonly number[] }
  /** A response on this stream. */
  | { readonly response: number }
  | { readonly frame: (frame: Frame) => boolean };

export type Http2Case = [section: string, name: string, sent: readonly Buffer[], expected: Expected];

export const connectionError = (...codes: number[]): Expected => ({ connectionError: codes });
export const streamError = (...codes: number[]): Expected => ({ streamError: codes });
export const response = (stream: number): Expected => ({ response: stream });
export const isAck = (type: number): Expected => ({
  frame: (one) => one.type === type && (one.flags & flag.ack) !== 0,
});

export const endBoth = flag.endHeaders | flag.endStream;
export const headers = (stream: number, block: Buffer, flags: number = endBoth): Buffer =>
  made(frame.headers, flags, stream, block);
export const fields = (...pairs: [name: string, value: string][]): Buffer =>
  Buffer.concat(pairs.map(([name, value]) => literal(name, value)));
export const method: [string, string] = [":method", "GET"];
export const scheme: [string, string] = [":scheme", "https"];
export const path: [string, string] = [":path", "/"];
export const waiting = (stream: number, flags: number = endBoth): Buffer =>
  headers(stream, fields(method, scheme, [":path", "/wait"], [":authority", "a"]), flags);
export const some = (bytes: number): Buffer => Buffer.alloc(bytes, "x");
export const data = (stream: number, payload: Buffer = some(1), flags: number = flag.endStream): Buffer =>
  made(frame.data, flags, stream, payload);
export const continuation = (stream: number, block: Buffer, flags: number = flag.endHeaders): Buffer =>
  made(frame.continuation, flags, stream, block);
export const windowUpdate = (stream: number, by: number): Buffer =>
  numbersFrame(frame.windowUpdate, stream, by);
export const reset = (stream: number, code: number = errorCode.cancel): Buffer =>
  numbersFrame(frame.rstStream, stream, code);
export const priority = (stream: number, on = 0): Buffer =>
  made(frame.priority, 0, stream, Buffer.from([0, 0, 0, on, 5]));
export const withFields = (...pairs: [name: string, value: string][]): Buffer =>
  headers(1, Buffer.concat([getBlock, fields(...pairs)]));
