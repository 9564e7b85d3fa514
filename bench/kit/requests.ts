// Sends requests over a kept-alive HTTP/2 connection, several at a time.
import { type ClientHttp2Session, connect } from "node:http2";
import { inFlight } from "./in-flight.ts";

export interface Round {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly requests: number;
  readonly body?: () => unknown;
  /** Number of requests in flight. */
  readonly lanes?: number;
}

export class Requests {
  readonly #session: ClientHttp2Session;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#session = connect(url, { rejectUnauthorized: false });
    this.#token = token;
  }

  async run({ method, path, requests, body, lanes = 8 }: Round): Promise<void> {
    await inFlight(lanes, requests, async () => {
      const status = await this.#ask(method, path, body && JSON.stringify(body()));
      if (status !== 200 && status !== 201) throw new Error(`${method} ${path} answered ${status}`);
    });
  }

  close(): void {
    this.#session.close();
  }

  #ask(method: string, path: string, body: string | undefined): Promise<number> {
    const stream = this.#session.request({
      ":method": method,
      ":path": path,
      authorization: `Bearer ${this.#token}`,
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
    });
    stream.end(body);
    return new Promise((resolve, reject) => {
      let status = 0;
      stream.on("response", (headers) => (status = Number(headers[":status"])));
      stream.on("data", () => undefined);
      stream.on("end", () => resolve(status));
      stream.on("error", reject);
    });
  }
}
