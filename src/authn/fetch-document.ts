// Fetches small documents over HTTPS, trusting given authorities.
import { type RequestOptions, request } from "node:https";
import { STATUS_CODES } from "node:http";
import { type Dial, checkServerIdentity, connectionErrorText, createConnectionWith, trust } from "#http";

const timeoutMilliseconds = 10_000;
const maxBytes = 1024 * 1024;

/** The server responded with an error status. */
export class DocumentRefused extends Error {
  override readonly name = "DocumentRefused";
  /** The status code and its text. */
  readonly status: string;
  constructor(code: number, body: string) {
    const status = `${code} ${STATUS_CODES[code] ?? ""}`.trim();
    super(`${status}: ${body}`);
    this.status = status;
  }
}

/** Maximum number of characters of an error response that are reported. */
const maxErrorCharacters = 1000;

/**
 * Returns a function that fetches documents. It does not follow redirects; any status but success is an
 * error.
 */
export function documentFetcher(
  ca: string | undefined,
  dial?: Dial,
): (url: string, token?: string) => Promise<string> {
  return (url, token) =>
    new Promise((resolve, reject) => {
      const options: RequestOptions = {
        ...(ca !== undefined && trust(ca)),
        headers: {
          accept: "application/json, */*",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        signal: AbortSignal.timeout(timeoutMilliseconds),
        checkServerIdentity,
        ...(dial && { createConnection: createConnectionWith(dial, (given) => given) }),
      };
      const call = request(url, options, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxBytes) response.destroy(new Error(`${url} is larger than ${maxBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on("error", reject);
        response.on("end", () => {
          const { statusCode: code = 0 } = response;
          const body = Buffer.concat(chunks).toString();
          if (code >= 200 && code <= 226) resolve(body);
          else reject(new DocumentRefused(code, body.slice(0, maxErrorCharacters)));
        });
      });
      const { hostname: host, port } = new URL(url);
      call.on("error", (error) => {
        const cause = connectionErrorText(error, { host, port: Number(port || 443) });
        reject(new Error(`Get ${JSON.stringify(url)}: ${cause}`, { cause: error }));
      });
      call.end();
    });
}
