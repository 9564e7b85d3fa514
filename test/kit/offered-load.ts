// Sends requests to a server at a fixed rate, whether or not it keeps up, and reports how each was answered.
// Runs as a separate process, so that its cost is not attributed to the server.
//   node offered-load.ts URL TOKEN PATH RATE SECONDS CONNECTIONS      prints Offered as JSON
import { connect, type ClientHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";

export interface Offered {
  readonly offered: number;
  /** Responses by status; "none" for requests that ended without one. */
  readonly answers: Readonly<Record<string, number>>;
  /** Responses of 429 without a Retry-After header. */
  readonly withoutRetryAfter: number;
  readonly seconds: number;
}

const tickMilliseconds = 10;

export async function offer(
  url: string,
  token: string,
  path: string,
  { rate, seconds, connections }: { rate: number; seconds: number; connections: number },
): Promise<Offered> {
  const sessions = Array.from({ length: connections }, () => connect(url, { rejectUnauthorized: false }));
  for (const session of sessions) session.on("error", () => undefined);
  const answers: Record<string, number> = {};
  let withoutRetryAfter = 0;
  let waiting = 0;
  let offered = 0;
  const ask = async (session: ClientHttp2Session): Promise<void> => {
    waiting++;
    const { status, retryAfter } = await answerOf(session, token, path);
    answers[status] = (answers[status] ?? 0) + 1;
    if (status === "429" && !retryAfter) withoutRetryAfter++;
    waiting--;
  };
  const began = performance.now();
  for (let due = 0; performance.now() - began < seconds * 1000; await sleep(tickMilliseconds)) {
    // Requests missed by a late timer are sent now, which keeps the rate.
    due = Math.floor(((performance.now() - began) / 1000) * rate);
    for (; offered < due; offered++) void ask(sessions[offered % sessions.length]!);
  }
  while (waiting > 0) await sleep(tickMilliseconds);
  const took = (performance.now() - began) / 1000;
  for (const session of sessions) session.destroy();
  return { offered, answers, withoutRetryAfter, seconds: took };
}

/** Returns the responses per second of a server that always has `inFlight` requests pending. */
export async function capacity(
  url: string,
  token: string,
  path: string,
  { seconds, inFlight }: { seconds: number; inFlight: number },
): Promise<number> {
  const session = connect(url, { rejectUnauthorized: false });
  const end = performance.now() + seconds * 1000;
  let answered = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < end) if ((await answerOf(session, token, path)).status === "200") answered++;
    }),
  );
  session.destroy();
  return answered / seconds;
}

function answerOf(
  session: ClientHttp2Session,
  token: string,
  path: string,
): Promise<{ readonly status: string; readonly retryAfter: boolean }> {
  return new Promise((resolve) => {
    let status = "none";
    let retryAfter = false;
    const stream = session.request({
      ":path": path,
      authorization: `Bearer ${token}`,
      accept: "application/json",
    });
    stream.on("response", (headers) => {
      status = String(headers[":status"]);
      retryAfter = headers["retry-after"] !== undefined;
    });
    stream.on("data", () => undefined);
    stream.on("error", () => undefined);
    stream.on("close", () => resolve({ status, retryAfter }));
  });
}

if (import.meta.main) {
  const [url = "", token = "", path = "", rate, seconds, connections] = process.argv.slice(2);
  const figures =
    Number(rate) > 0
      ? await offer(url, token, path, {
          rate: Number(rate),
          seconds: Number(seconds),
          connections: Number(connections),
        })
      : await capacity(url, token, path, { seconds: Number(seconds), inFlight: Number(connections) });
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
