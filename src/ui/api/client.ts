// The API client of the page: it calls the server that served the page, as the signed-in user.

/** A failed request, with the server's error message. */
export class CallError extends Error {
  override readonly name = "CallError";
  /** 0 if the server could not be reached. */
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** Reports whether the connection failed or broke, so that the request can be retried. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof CallError && error.reason === unreachable;

const unreachable = "Unreachable";
const unreachableError = (): CallError => new CallError(0, unreachable, "the server cannot be reached");

export interface Client {
  json<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  text(path: string, query?: Query, signal?: AbortSignal, accept?: string): Promise<string>;
  /** Yields the lines of the response until it ends or the signal aborts. */
  lines(path: string, query: Query, signal: AbortSignal): AsyncGenerator<string>;
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export function pathWith(path: string, query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    if (Array.isArray(value)) for (const each of value as readonly string[]) given.append(name, each);
    else given.set(name, String(value));
  }
  const text = given.toString();
  return text === "" ? path : `${path}?${text}`;
}

export interface ClientOptions {
  /** Undefined if the user is authenticated by a client certificate. */
  readonly token: () => string | undefined;
  /** Called when the credentials are rejected and the user must sign in again. */
  readonly onUnauthorized: () => void;
  readonly fetch?: typeof fetch;
}

export function client({
  token,
  onUnauthorized,
  fetch: send = fetch.bind(globalThis),
}: ClientOptions): Client {
  const open = async (path: string, query: Query, signal: AbortSignal | undefined, accept: string) => {
    const bearer = token();
    let reply: Response;
    try {
      reply = await send(pathWith(path, query), {
        headers: { accept, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
        cache: "no-store",
        redirect: "error",
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw unreachableError();
    }
    if (reply.ok) return reply;
    if (reply.status === 401) onUnauthorized();
    throw await errorOf(reply);
  };
  return {
    json: async <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
      (await (await open(path, query, signal, "application/json")).json()) as T,
    text: async (path, query = {}, signal, accept = "*/*") =>
      await (await open(path, query, signal, accept)).text(),
    lines: async function* (path, query, signal) {
      const { body } = await open(path, query, signal, "application/json");
      if (body) yield* linesOf(body, signal);
    },
  };
}

async function errorOf(reply: Response): Promise<CallError> {
  const text = await reply.text().catch(() => "");
  try {
    const { reason, message } = JSON.parse(text) as { reason?: string; message?: string };
    return new CallError(reply.status, reason ?? "", message ?? text.slice(0, 500));
  } catch {
    return new CallError(
      reply.status,
      "",
      text.slice(0, 500) || `the server responded with status ${reply.status}`,
    );
  }
}

/** Maximum length of a line; this server sends no longer ones. */
const maxLineLength = 16 << 20;

async function* linesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw signal.aborted ? error : unreachableError();
      });
      if (done) break;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop()!;
      if (rest.length > maxLineLength)
        throw new CallError(0, "TooLong", "a line of the response is too long");
      yield* lines;
    }
    if (rest !== "") yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
