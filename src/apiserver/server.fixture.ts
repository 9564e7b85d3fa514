// Support for endpoint tests: one server per test file, called without sockets.
import assert from "node:assert/strict";
import { after } from "node:test";
import type { VirtualClock } from "#base";
import type { DialectName } from "#dialect";
import type { Injection } from "#http";
import { type RunningServer, startServer } from "./library.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly text: string;
  readonly bytes: Buffer;
  /** The body as JSON. */
  readonly json: Json;
  /** A value in the JSON body, by path. */
  at(path: string): unknown;
  /** The causes of a Status, as `Invalid spec.x`. */
  readonly causes: readonly string[];
}

export type Json = Record<string, unknown>;

/** Returns a value by its path, such as `items.0.metadata.name`; undefined if it does not exist. */
export const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((found, key) => (found as Json | undefined)?.[key], value);

/** Like `at`, converted to a string. */
export const textAt = (value: unknown, path: string): string => String(at(value, path));

/** Returns one value of every item of a list, or of every frame of a watch. */
export const each = (values: unknown, path: string): unknown[] =>
  (values as unknown[]).map((value) => at(value, path));

export interface Asking {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly trusted?: Injection["trusted"];
}

export interface Served {
  readonly server: RunningServer;
  ask(method: string, path: string, asking?: Asking): Promise<Answer>;
  /** Sends a request and requires the status. */
  must(status: number, method: string, path: string, asking?: Asking): Promise<Answer>;
  /** Opens a watch whose frames are read as they arrive. */
  watch(path: string, asking?: Asking): Watching;
  /** Opens a watch from the current revision, without the existing objects. */
  follow(path: string): Promise<Watching>;
  /** Creates a namespace for the test. */
  place(): Promise<string>;
}

export interface Watching {
  /** Resolves with the next frames, parsed. */
  next(count?: number): Promise<Json[]>;
  /** Resolves with all frames until the server ends the stream. */
  rest(): Promise<Json[]>;
  /** Disconnects. */
  stop(): void;
}

export interface ServeOptions {
  readonly dialect?: DialectName;
  readonly flags?: readonly string[];
  readonly clock?: VirtualClock;
  /** Listens on this port; without it, requests are injected only. */
  readonly port?: number;
}

/** Starts a server that lives as long as the test file. */
export async function serve({ dialect = "orch", flags = [], ...more }: ServeOptions = {}): Promise<Served> {
  const server = await startServer({ store: "memory", dialect, flags, ...more });
  after(() => server.stop());
  let places = 0;
  const inject = async (
    method: string,
    path: string,
    { body, type, accept, headers, trusted }: Asking,
    signal?: AbortSignal,
  ) =>
    await server.inject({
      method,
      path,
      headers: {
        ...(accept !== undefined && { accept }),
        ...(body !== undefined && { "content-type": type ?? "application/json" }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
      ...(trusted !== undefined && { trusted }),
      ...(signal && { signal }),
    });
  const ask = async (method: string, path: string, asking: Asking = {}): Promise<Answer> => {
    const answer = await inject(method, path, asking);
    const bytes = Buffer.from(await answer.bytes());
    const parsed = (): Json => JSON.parse(bytes.toString()) as Json;
    return {
      status: answer.status,
      headers: answer.headers,
      bytes,
      text: bytes.toString(),
      get json() {
        return parsed();
      },
      at: (where) => at(parsed(), where),
      get causes() {
        const causes = (at(parsed(), "details.causes") ?? []) as { reason?: string; field?: string }[];
        return causes.map(({ reason, field }) => `${(reason ?? "").replace("FieldValue", "")} ${field}`);
      },
    };
  };
  const must = async (status: number, method: string, path: string, asking?: Asking): Promise<Answer> => {
    const answer = await ask(method, path, asking);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 500)}`);
    return answer;
  };
  const watch = (path: string, asking: Asking = {}): Watching => {
    const abort = new AbortController();
    const frames: Json[] = [];
    let wake = (): void => undefined;
    let over = false;
    const reading = (async () => {
      for await (const frame of framesOf((await inject("GET", path, asking, abort.signal)).chunks)) {
        frames.push(frame);
        wake();
      }
    })().finally(() => {
      over = true;
      wake();
    });
    return {
      next: async (count = 1) => {
        while (frames.length < count && !over) await new Promise<void>((resolve) => (wake = resolve));
        return frames.splice(0, count);
      },
      rest: async () => {
        await reading;
        return frames.splice(0);
      },
      stop: () => abort.abort(),
    };
  };
  return {
    server,
    ask,
    must,
    watch,
    follow: async (path) => {
      const list = await must(200, "GET", path.replace("watch=1", ""));
      return watch(`${path}&resourceVersion=${String(list.at("metadata.resourceVersion"))}`);
    },
    place: async () => {
      const name = `place-${++places}`;
      await must(201, "POST", "/api/v1/namespaces", { body: { metadata: { name } } });
      return name;
    },
  };
}

async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Json> {
  let text = "";
  for await (const chunk of chunks) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield JSON.parse(text.slice(0, end)) as Json;
      text = text.slice(end + 1);
    }
  }
}

/** Returns a valid new event of the events group. */
export const newEvent = (name: string, namespace: string, more: object = {}): Json => ({
  metadata: { name },
  eventTime: "2030-01-02T03:04:05.123456Z",
  type: "Normal",
  reason: "Tested",
  action: "Test",
  note: "it was tested",
  reportingController: "example.com/tester",
  reportingInstance: "tester-1",
  regarding: { kind: "Pod", namespace, name: "p", uid: "u-1" },
  ...more,
});

/** Returns a typical event of the core group. */
export const coreEvent = (name: string, namespace: string, more: object = {}): Json => ({
  metadata: { name },
  involvedObject: { kind: "Pod", namespace, name: "p", uid: "u-1" },
  reason: "Tested",
  message: "it was tested",
  type: "Normal",
  source: { component: "tester", host: "node-1" },
  firstTimestamp: "2030-01-02T03:04:05Z",
  lastTimestamp: "2030-01-02T03:04:05Z",
  count: 1,
  ...more,
});
