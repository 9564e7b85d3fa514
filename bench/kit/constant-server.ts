// For comparison: an HTTPS server that returns the same kilobyte for every request, on Node's core HTTP/2 API.
import { readFileSync } from "node:fs";
import { type ServerHttp2Stream, createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";

const [certificate, key] = process.argv.slice(2);
const body = Buffer.alloc(1024, "x");
const server = createSecureServer({ cert: readFileSync(certificate!), key: readFileSync(key!) });
server.on("stream", (stream: ServerHttp2Stream) => {
  stream.respond({ ":status": 200, "content-type": "application/json", "content-length": body.length });
  stream.end(body);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
