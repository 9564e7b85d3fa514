// Gets small documents over HTTPS, trusting given authorities.
import { type RequestOptions, request } from "node:https";
import { type Dial, checkServerIdentity, connectionsBy } from "#http";

const timeoutMilliseconds = 10_000;
const largestBytes = 1024 * 1024;

/** Redirects are not followed; anything but 200 is an error. */
export function documentFetcher(
  ca: string | undefined,
  dial?: Dial,
): (url: string, token?: string) => Promise<string> {
  return (url, token) =>
    new Promise((resolve, reject) => {
      const options: RequestOptions = {
        ...(ca !== undefined && { ca }),
        headers: {
          accept: "application/json, */*",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        signal: AbortSignal.timeout(timeoutMilliseconds),
        checkServerIdentity,
        ...(dial && { createConnection: connectionsBy(dial, (given) => given) }),
      };
      const asking = request(url, options, (answer) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > largestBytes) answer.destroy(new Error(`${url} is larger than ${largestBytes} bytes`));
          else chunks.push(chunk);
        });
        answer.on("error", reject);
        answer.on("end", () => {
          if (answer.statusCode === 200) resolve(Buffer.concat(chunks).toString());
          else reject(new Error(`${url} answered ${answer.statusCode}`));
        });
      });
      asking.on("error", reject);
      asking.end();
    });
}
