// A fake API server for tests of the agent: objects in a map, the basic verbs, and a record of the requests.
import { type ApiClient, type ClientRequest, apiClient } from "#client";
import { type Dialect, dialects } from "#dialect";

export interface FakeApi {
  readonly client: ApiClient;
  /** `METHOD path`, in order. */
  readonly requests: string[];
  readonly bodies: unknown[];
  /** Objects by path. */
  readonly objects: Map<string, Record<string, unknown>>;
  /**
   * Overrides the basic verbs if it returns something: a status and a body to respond with, or an error to
   * throw.
   */
  answer: (
    request: ClientRequest,
    body: unknown,
  ) => { readonly status: number; readonly body: unknown } | Error | undefined;
}

export function fakeApi(dialect: Dialect = dialects.orch): FakeApi {
  let version = 0;
  const watchers = new Set<{ collection: string; push: (line: string | undefined) => void }>();
  const notifyWatchers = (type: string, path: string, object: unknown): void => {
    for (const { collection, push } of watchers)
      if (path.startsWith(`${collection}/`)) push(`${JSON.stringify({ type, object })}\n`);
  };
  const api: { -readonly [K in keyof FakeApi]: FakeApi[K] } = {
    client: undefined as never,
    requests: [],
    bodies: [],
    objects: new Map(),
    answer: () => undefined,
  };
  const stored = (path: string, object: Record<string, unknown>): Record<string, unknown> => {
    const metadata = object["metadata"] as Record<string, unknown>;
    const saved = {
      ...object,
      metadata: { uid: `uid-${version}`, ...metadata, resourceVersion: String(++version) },
    };
    const type = api.objects.has(path) ? "MODIFIED" : "ADDED";
    api.objects.set(path, saved);
    notifyWatchers(type, path, saved);
    return saved;
  };
  const handle = (
    { method, path: target }: ClientRequest,
    body: unknown,
  ): { status: number; body: unknown } => {
    const path = target.split("?", 1)[0]!;
    const missing = {
      status: 404,
      body: { kind: "Status", reason: "NotFound", message: `${path} not found` },
    };
    if (method === "POST") {
      const { name } = (body as { metadata: { name: string } }).metadata;
      if (api.objects.has(`${path}/${name}`))
        return {
          status: 409,
          body: { kind: "Status", reason: "AlreadyExists", message: `${name} already exists` },
        };
      return { status: 201, body: stored(`${path}/${name}`, body as Record<string, unknown>) };
    }
    const at = path.replace(/\/status$/, "");
    const old = api.objects.get(at);
    if (!old && method === "GET" && /\?.*limit=/.test(target)) {
      const items = [...api.objects]
        .filter(([key]) => key.startsWith(`${path}/`))
        .map(([, object]) => object);
      return { status: 200, body: { metadata: { resourceVersion: String(version) }, items } };
    }
    if (!old) return missing;
    if (method === "GET") return { status: 200, body: old };
    if (method === "DELETE") {
      api.objects.delete(at);
      notifyWatchers("DELETED", at, {
        ...old,
        metadata: { ...(old["metadata"] as object), resourceVersion: String(++version) },
      });
      return { status: 200, body: { kind: "Status", status: "Success" } };
    }
    return {
      status: 200,
      body: stored(
        at,
        method === "PUT" ? (body as Record<string, unknown>) : merged(old, body as Record<string, unknown>),
      ),
    };
  };
  async function* watched({ path, signal }: ClientRequest): AsyncGenerator<Uint8Array> {
    const lines: string[] = [];
    let wake: () => void = () => undefined;
    const watcher = {
      collection: path.split("?", 1)[0]!,
      push: (line: string | undefined) => {
        if (line) lines.push(line);
        wake();
      },
    };
    watchers.add(watcher);
    signal?.addEventListener("abort", () => watcher.push(undefined), { once: true });
    try {
      while (!signal?.aborted) {
        const line = lines.shift();
        if (line) yield Buffer.from(line);
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      watchers.delete(watcher);
    }
  }
  api.client = apiClient(
    {
      send: async (request) => {
        const body =
          request.body === undefined
            ? undefined
            : (JSON.parse(Buffer.from(request.body).toString()) as unknown);
        api.requests.push(`${request.method} ${request.path}`);
        api.bodies.push(body);
        if (request.path.includes("watch=true"))
          return { status: 200, headers: {}, chunks: watched(request) };
        const answer = api.answer(request, body) ?? handle(request, body);
        if (answer instanceof Error) throw answer;
        await Promise.resolve();
        return {
          status: answer.status,
          headers: {},
          chunks: oneChunk(Buffer.from(JSON.stringify(answer.body))),
        };
      },
      close: () => undefined,
    },
    dialect,
  );
  return api;
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield bytes;
}

/** Applies a merge patch; lists are replaced. */
function merged(old: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const result = { ...old };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (typeof value === "object" && !Array.isArray(value))
      result[key] = merged((result[key] ?? {}) as Record<string, unknown>, value as Record<string, unknown>);
    else result[key] = value;
  }
  return result;
}
