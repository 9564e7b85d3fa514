// HTTP/1.1 requests whose method the runtime's parser does not know. The connection is closed after their
// response, since the parser has stopped: their bodies are not read.
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

// A plain import of this module also loads Node's fetch client, which is not used here: 15 MB.
const { IncomingMessage: Message } = process.getBuiltinModule("node:http");

/** The error of the parser, with what it read. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const requestLine = new RegExp(`^(${token}) (\\S+) HTTP/1\\.1$`);
const field = new RegExp(`^(${token}):[ \\t]*(.*)$`);

/** Returns the request of which the parser rejected the method; undefined if anything else is wrong with it. */
export function requestOfUnknownMethod(
  { code, rawPacket }: ParserError,
  socket: Socket,
): IncomingMessage | undefined {
  const end = code === "HPE_INVALID_METHOD" ? (rawPacket?.indexOf("\r\n\r\n") ?? -1) : -1;
  if (end < 0) return undefined;
  const [line = "", ...lines] = rawPacket!.toString("latin1", 0, end).split("\r\n");
  const start = requestLine.exec(line);
  const fields = lines.map((each) => field.exec(each));
  if (!start || fields.includes(null)) return undefined;
  const headers: Record<string, string> = {};
  const request = new Message(socket);
  for (const [, name = "", value = ""] of fields as RegExpExecArray[]) {
    request.rawHeaders.push(name, value.trimEnd());
    headers[name.toLowerCase()] = value.trimEnd();
  }
  if (headers["host"] === undefined) return undefined;
  Object.assign(request, { method: start[1], url: start[2], httpVersionMajor: 1, httpVersionMinor: 1 });
  Object.assign(request, { httpVersion: "1.1", headers, complete: true });
  request.push(null);
  return request;
}
