// Claim: a webhook adds less than 150 µs of the server's processor time to a request, over a connection that is
// kept. The webhook answers from a process of its own, so that only the server's share is counted.
//
//   npm run bench -- webhooks [--objects=3000]
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { startServer } from "#apiserver";
import { selfSigned } from "#authn";

const objects = Number(
  process.argv.find((argument) => argument.startsWith("--objects="))?.slice("--objects=".length) ?? 3000,
);
const most = 150;

/** The webhook: allows everything. Tells its parent where it listens. */
function serveWebhook(certificate: string, key: string): void {
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as {
        apiVersion: string;
        kind: string;
        request: { uid: string };
      };
      const { apiVersion, kind, request: asked } = review;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
  process.once("disconnect", () => process.exit());
}

const [certificate, key] = [process.env["BENCH_CERTIFICATE"], process.env["BENCH_KEY"]];
if (process.send && certificate && key) serveWebhook(certificate, key);
else await measureAll();

async function measureAll(): Promise<void> {
  const pair = selfSigned({ commonName: "webhook" }, ["127.0.0.1"], { now: Date.now(), days: 1 });
  const child: ChildProcess = fork(import.meta.filename, {
    execArgv: process.execArgv,
    env: { ...process.env, BENCH_CERTIFICATE: pair.certificate, BENCH_KEY: pair.key },
  });
  try {
    const [port] = (await once(child, "message")) as [number];
    await measure(port, pair.certificate);
  } finally {
    child.disconnect();
  }
}

async function measure(port: number, ca: string): Promise<void> {
  // The timeline records while the server waits, and so only beside the webhook within the measured time.
  const server = await startServer({ store: "memory", flags: ["--ui=false"] });
  const must = async (status: number, method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await server.inject({
      method,
      path,
      ...(body !== undefined && {
        body: Buffer.from(JSON.stringify(body)),
        headers: { "content-type": "application/json" },
      }),
    });
    for await (const _ of answer.chunks);
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status}`);
  };
  let made = 0;
  const data = { text: "some text ".repeat(20) };
  const create = async (): Promise<number> => {
    const before = process.cpuUsage();
    for (let i = 0; i < objects; i++)
      await must(201, "POST", "/api/v1/namespaces/default/configmaps", {
        metadata: { name: `object-${made++}` },
        data,
      });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / objects;
  };
  const configurations = "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations";
  const configuration = {
    metadata: { name: "bench" },
    webhooks: [
      {
        name: "bench.example.com",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca).toString("base64") },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      },
    ],
  };
  await create();
  let [without, beside] = [Infinity, Infinity];
  for (let round = 0; round < 3; round++) {
    without = Math.min(without, await create());
    await must(201, "POST", configurations, configuration);
    beside = Math.min(beside, await create());
    await must(200, "DELETE", `${configurations}/bench`);
  }
  const figures = `create ${without.toFixed(0)} µs, with a webhook ${beside.toFixed(0)} µs`;
  console.log(`${figures}: ${(beside - without).toFixed(0)} µs more (at most ${most})`);
  await server.stop();
}
