// Asks a server of the main thread over HTTP/2, from a thread of its own, and tells what that cost (in µs of CPU), so
// that it is not counted.
import { connect } from "node:http2";
import { parentPort, workerData } from "node:worker_threads";

export interface Round {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly requests: number;
}

const { token } = workerData as { readonly token: string };
const sessions = new Map<string, ReturnType<typeof connect>>();
const lanes = 8;
let made = 0;

const body = (): string =>
  JSON.stringify({
    metadata: { name: `bench-${++made}`, labels: { app: "web", tier: "front" } },
    data: { settings: "x".repeat(500), more: "y".repeat(400) },
  });

function ask({ url, method, path }: Round): Promise<number> {
  let session = sessions.get(url);
  if (!session) sessions.set(url, (session = connect(url, { rejectUnauthorized: false })));
  const stream = session.request({
    ":method": method,
    ":path": path,
    authorization: `Bearer ${token}`,
    accept: "application/json",
    ...(method === "POST" && { "content-type": "application/json" }),
  });
  stream.end(method === "POST" ? body() : undefined);
  return new Promise((resolve, reject) => {
    let status = 0;
    stream.on("response", (headers) => (status = Number(headers[":status"])));
    stream.on("data", () => undefined);
    stream.on("end", () => resolve(status));
    stream.on("error", reject);
  });
}

parentPort!.on("message", (round: Round) => {
  const before = process.threadCpuUsage();
  let left = round.requests;
  const wanted = round.method === "POST" ? 201 : 200;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const status = await ask(round);
      if (status !== wanted) throw new Error(`${round.method} ${round.path} answered ${status}`);
    }
  };
  void Promise.all(Array.from({ length: lanes }, lane)).then(() => {
    const { user, system } = process.threadCpuUsage(before);
    parentPort!.postMessage(user + system);
  });
});
