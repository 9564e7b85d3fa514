// An API server for tests of the agent's parts: objects in a map, plain verbs, and a list of what was asked.
import { type ApiClient, type ClientRequest, apiClient } from "#client";
import { type Dialect, dialects } from "#dialect";

export interface FakeApi {
  readonly client: ApiClient;
  /** `METHOD path`, in order. */
  readonly asked: string[];
  readonly bodies: unknown[];
  /** By path. */
  readonly objects: Map<string, Record<string, unknown>>;
  /** Answers instead of the plain verbs where it gives something: a status and a body, or an error to throw. */
  answer: (request: ClientRequest, body: unknown) => { readonly status: number; readonly body: unknown } | Error | undefined;
}

export function fakeApi(dialect: Dialect = dialects.orch): FakeApi {
  let version = 0;
  const api: { -readonly [K in keyof FakeApi]: FakeApi[K] } = {
    client: undefined as never,
    asked: [],
    bodies: [],
    objects: new Map(),
    answer: () => undefined,
  };
  const stored = (path: string, object: Record<string, unknown>): Record<string, unknown> => {
    const metadata = object["metadata"] as Record<string, unknown>;
    const kept = { ...object, metadata: { uid: `uid-${version}`, ...metadata, resourceVersion: String(++version) } };
    api.objects.set(path, kept);
    return kept;
  };
  const plain = ({ method, path: target }: ClientRequest, body: unknown): { status: number; body: unknown } => {
    const path = target.split("?", 1)[0]!;
    const missing = { status: 404, body: { kind: "Status", reason: "NotFound", message: `${path} not found` } };
    if (method === "POST") {
      const { name } = (body as { metadata: { name: string } }).metadata;
      if (api.objects.has(`${path}/${name}`)) return { status: 409, body: { kind: "Status", reason: "AlreadyExists", message: `${name} already exists` } };
      return { status: 201, body: stored(`${path}/${name}`, body as Record<string, unknown>) };
    }
    const at = path.replace(/\/status$/, "");
    const old = api.objects.get(at);
    if (!old) return missing;
    if (method === "GET") return { status: 200, body: old };
    if (method === "DELETE") {
      api.objects.delete(at);
      return { status: 200, body: { kind: "Status", status: "Success" } };
    }
    return { status: 200, body: stored(at, method === "PUT" ? (body as Record<string, unknown>) : merged(old, body as Record<string, unknown>)) };
  };
  api.client = apiClient(
    {
      send: async (request) => {
        const body = request.body === undefined ? undefined : (JSON.parse(Buffer.from(request.body).toString()) as unknown);
        api.asked.push(`${request.method} ${request.path}`);
        api.bodies.push(body);
        const answer = api.answer(request, body) ?? plain(request, body);
        if (answer instanceof Error) throw answer;
        await Promise.resolve();
        return { status: answer.status, headers: {}, chunks: oneChunk(Buffer.from(JSON.stringify(answer.body))) };
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

/** A merge patch; lists are replaced. */
function merged(old: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const result = { ...old };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (typeof value === "object" && !Array.isArray(value)) result[key] = merged((result[key] ?? {}) as Record<string, unknown>, value as Record<string, unknown>);
    else result[key] = value;
  }
  return result;
}
