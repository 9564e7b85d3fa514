// The API as the page calls it: always the server that served the page, always as the user who looks.

/** An answer that is no success, with what the server said. */
export class CallError extends Error {
  override readonly name = "CallError";
  /** 0 when the server could not be reached. */
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The connection broke or was never made: it is worth another try. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof CallError && error.reason === unreachable;

const unreachable = "Unreachable";
const gone = (): CallError => new CallError(0, unreachable, "the server cannot be reached");

export interface Client {
  json<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  text(path: string, query?: Query, signal?: AbortSignal, accept?: string): Promise<string>;
  /** Lines as they come, until the answer ends or the signal. */
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
  /** Undefined where a client certificate tells who it is. */
  readonly token: () => string | undefined;
  /** The credentials are refused: somebody must sign in again. */
  readonly onUnauthorized: () => void;
  readonly fetch?: typeof fetch;
}

export function client({
  token,
  onUnauthorized,
  fetch: ask = fetch.bind(globalThis),
}: ClientOptions): Client {
  const open = async (path: string, query: Query, signal: AbortSignal | undefined, accept: string) => {
    const bearer = token();
    let reply: Response;
    try {
      reply = await ask(pathWith(path, query), {
        headers: { accept, ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
        cache: "no-store",
        redirect: "error",
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw gone();
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
    return new CallError(reply.status, "", text.slice(0, 500) || `the server answered ${reply.status}`);
  }
}

/** A longer line than this is not from this server. */
const longestLine = 16 << 20;

async function* linesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw signal.aborted ? error : gone();
      });
      if (done) break;
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop()!;
      if (rest.length > longestLine) throw new CallError(0, "TooLong", "a line of the answer is too long");
      yield* lines;
    }
    if (rest !== "") yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
