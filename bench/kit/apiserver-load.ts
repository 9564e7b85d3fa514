// The workload of the API server benchmark as a separate process. Prints one JSON line per step: operations and their
// cost to the server.
//
//   node apiserver-load.ts URL SERVER-PID TOKEN GROUP OBJECTS [step,…]
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { cpuMicros, residentMegabytes } from "./process-cost.ts";

const [url = "", pidText, token = "", group = "", objectsText, only] = process.argv.slice(2);
const pid = Number(pidText);
const objects = Number(objectsText);
const wanted = only ? new Set(only.split(",")) : undefined;
const namespace = "bench";
const base = `/apis/${group}/v1/namespaces/${namespace}/events`;
const watchers = 200;
const fanned = 500;

const session = (): ClientHttp2Session => {
  const made = connect(url, { rejectUnauthorized: false, settings: { initialWindowSize: 8 * 1024 * 1024 } });
  made.once("connect", () => made.setLocalWindowSize(32 * 1024 * 1024));
  return made;
};

interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly text: () => string;
}

function send(
  over: ClientHttp2Session,
  method: string,
  path: string,
  body?: string,
  contentType = "application/json",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      ":method": method,
      ":path": path,
      authorization: `Bearer ${token}`,
      accept: "application/json",
      ...(body !== undefined && { "content-type": contentType }),
    };
    const stream = over.request(headers, { endStream: body === undefined });
    const chunks: Buffer[] = [];
    let status = 0;
    let bytes = 0;
    stream.on("response", (incoming) => (status = Number(incoming[":status"])));
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
    });
    stream.on("end", () => resolve({ status, bytes, text: () => Buffer.concat(chunks).toString() }));
    stream.on("error", reject);
    if (body !== undefined) stream.end(body);
  });
}

let made = 0;
const event = (metadata: object): string =>
  JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: "Event",
    metadata: { namespace, labels: { app: "web", tier: "front", shard: String(made++ % 100) }, ...metadata },
    eventTime: "2026-01-01T00:00:00.000000Z",
    action: "Binding",
    reason: "Scheduled",
    type: "Normal",
    note: "Successfully assigned bench/web-7d4b9c6f5d-abcde to node-0042 after 3 attempts; waited 1.2s for volume binding",
    regarding: {
      apiVersion: "v1",
      kind: "Pod",
      namespace,
      name: "web-7d4b9c6f5d-abcde",
      uid: "a3c1f7de-3a30-4f2f-9a7a-0d3a5f5e8b11",
      resourceVersion: "12345",
    },
    reportingController: "example.com/scheduler",
    reportingInstance: "scheduler-abc123",
  });

/** Runs `one` a number of times or for some time, with several in flight. Returns the number of successes. */
async function repeat(
  limit: { readonly times?: number; readonly milliseconds?: number },
  inFlight: number,
  one: (index: number, lane: number) => Promise<boolean>,
): Promise<number> {
  let next = 0;
  let good = 0;
  const end = performance.now() + (limit.milliseconds ?? Infinity);
  const lane = async (_: unknown, at: number): Promise<void> => {
    while (next < (limit.times ?? Infinity) && performance.now() < end) if (await one(next++, at)) good++;
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return good;
}

/** The clock of CPU profiles. */
const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1000n);

async function step(name: string, run: () => Promise<number>): Promise<void> {
  if (wanted && !wanted.has(name)) return;
  const [before, began, beganAt] = [cpuMicros(pid), performance.now(), monotonicMicros()];
  const operations = await run();
  if (operations === 0)
    throw new Error(`nothing of ${name} went well; patch needs the objects that watch makes`);
  const micros = cpuMicros(pid) - before;
  const wallSeconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${JSON.stringify({ step: name, operations, microsPerOperation: micros / operations, perSecond: operations / wallSeconds, residentMegabytes: residentMegabytes(pid), began: beganAt, ended: monotonicMicros() })}\n`,
  );
}

const sessions = Array.from({ length: 4 }, session);
const first = sessions[0]!;
const read =
  (path: string) =>
  async (_: number, lane: number): Promise<boolean> =>
    (await send(sessions[lane % sessions.length]!, "GET", path)).status === 200;
const readFor = { milliseconds: 4000 };

await send(
  first,
  "POST",
  "/api/v1/namespaces",
  JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }),
);
await step("create", () =>
  repeat(
    { times: objects },
    64,
    async (_, lane) =>
      (await send(sessions[lane % 4]!, "POST", base, event({ generateName: "bench-" }))).status === 201,
  ),
);
const page = JSON.parse((await send(first, "GET", `${base}?limit=1`)).text()) as {
  metadata: { resourceVersion: string };
  items: { metadata: { name: string } }[];
};
await step("get", () => repeat(readFor, 64, read(`${base}/${page.items[0]!.metadata.name}`)));
await step("list_500", () => repeat(readFor, 4, read(`${base}?limit=500`)));
await step("list_all", () => repeat(readFor, 2, read(`${base}?resourceVersion=0`)));
await step("list_label", () => repeat(readFor, 4, read(`${base}?labelSelector=shard%3D7&resourceVersion=0`)));
await step("watch", fanOut);
await step("patch", () =>
  repeat({ times: Math.min(objects, 3000) }, 16, async (index) => {
    const patch = JSON.stringify({ metadata: { labels: { n: String(index) } } });
    return (
      (await send(first, "PATCH", `${base}/fan-${index % fanned}`, patch, "application/merge-patch+json"))
        .status === 200
    );
  }),
);
// Deletes half of the objects one by one, so that the code is warm for most of them; the rest are deleted at once.
const half = JSON.parse((await send(first, "GET", `${base}?limit=${objects >> 1}`)).text()) as typeof page;
await step("delete", () =>
  repeat(
    { times: half.items.length },
    16,
    async (index) =>
      (await send(first, "DELETE", `${base}/${half.items[index]!.metadata.name}`)).status === 200,
  ),
);
await step("deletecollection", async () =>
  (await send(first, "DELETE", base)).status === 200 ? objects - half.items.length : 0,
);
for (const one of sessions) one.destroy();

/** Checks that every event reaches every watcher. */
async function fanOut(): Promise<number> {
  const { resourceVersion } = (
    JSON.parse((await send(first, "GET", `${base}?limit=1`)).text()) as typeof page
  ).metadata;
  const own = Array.from({ length: watchers / 50 }, session);
  let [open, got] = [0, 0];
  const { promise: all, resolve: done } = Promise.withResolvers<void>();
  const count = (stream: ClientHttp2Stream): void => {
    stream.on("response", () => open++);
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) got++;
      if (got >= watchers * fanned) done();
    });
  };
  for (let i = 0; i < watchers; i++) {
    count(
      own[i % own.length]!.request({
        ":path": `${base}?watch=1&resourceVersion=${resourceVersion}&timeoutSeconds=120`,
        authorization: `Bearer ${token}`,
        accept: "application/json",
      }),
    );
  }
  while (open < watchers) await new Promise((resolve) => setTimeout(resolve, 10));
  for (let at = 0; at < fanned; at += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => send(first, "POST", base, event({ name: `fan-${at + i}` }))),
    );
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 30_000))]);
  for (const one of own) one.destroy();
  return got;
}
