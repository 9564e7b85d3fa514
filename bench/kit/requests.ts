// Sends requests over kept-alive HTTP/2 connections, several at a time.
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
  readonly #sessions: readonly ClientHttp2Session[];
  readonly #token: string;

  constructor(url: string, token: string, connections = 1) {
    this.#sessions = Array.from({ length: connections }, () => connect(url, { rejectUnauthorized: false }));
    this.#token = token;
  }

  async run({ method, path, requests, body, lanes = 8 }: Round): Promise<void> {
    await inFlight(lanes, requests, async (at) => {
      const session = this.#sessions[at % this.#sessions.length]!;
      const status = await this.#ask(session, method, path, body && JSON.stringify(body()));
      if (status !== 200 && status !== 201) throw new Error(`${method} ${path} answered ${status}`);
    });
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #ask(session: ClientHttp2Session, method: string, path: string, body: string | undefined): Promise<number> {
    const stream = session.request({
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
