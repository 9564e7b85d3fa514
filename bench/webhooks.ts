// Claim: a webhook adds less than 150 µs of the server's CPU time to a request over a kept-alive connection. Server,
// webhook and client are separate processes; only the server's CPU time counts.
//
//   npm run bench -- webhooks [--objects=3000]
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "#authn";
import { givenNumber } from "./kit/given.ts";
import { cpuMicros } from "./kit/process-cost.ts";
import { Requests } from "./kit/requests.ts";
import { type ServerProgram, launcher, startProgram, token } from "./kit/server-program.ts";

const objects = givenNumber("objects", 3000);
const most = 150;
/** Creates after a change of the webhooks that are not counted. */
const warming = 100;

let made = 0;
const configMap = (): unknown => ({
  metadata: { name: `object-${made++}` },
  data: { text: "some text ".repeat(20) },
});
const configurations = "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations";

/** The webhook: allows everything, and sends its address to the parent process. */
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
      const { apiVersion, kind, request: requested } = review;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: requested.uid, allowed: true } }));
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
  const folder = mkdtempSync(join(tmpdir(), "bench-webhooks-"));
  // The timeline records while the server waits, which would count only in the measurement with a webhook.
  const server = await startProgram([launcher], folder, ["--ui=false"]);
  const client = new Requests(server.url, token);
  try {
    for (const lanes of [1, 8, 64]) await measureLanes({ server, client, lanes, webhook: { port, ca } });
  } finally {
    client.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measured {
  readonly server: ServerProgram;
  readonly client: Requests;
  readonly lanes: number;
  readonly webhook: { readonly port: number; readonly ca: string };
}

/** Measures the cost of a create with and without the webhook, in turns. */
async function measureLanes({ server, client, lanes, webhook: { port, ca } }: Measured): Promise<void> {
  const maps = "/api/v1/namespaces/default/configmaps";
  const create = async (requests = objects): Promise<number> => {
    const before = cpuMicros(server.child.pid!);
    await client.run({ method: "POST", path: maps, requests, body: configMap, lanes });
    return (cpuMicros(server.child.pid!) - before) / requests;
  };
  const clientConfig = {
    url: `https://127.0.0.1:${port}/`,
    caBundle: Buffer.from(ca).toString("base64"),
  };
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
  const hook = {
    name: "bench.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig,
    rules,
  };
  const configuration = (): unknown => ({ metadata: { name: "bench" }, webhooks: [hook] });
  await create();
  let [without, beside] = [Infinity, Infinity];
  for (let round = 0; round < 3; round++) {
    without = Math.min(without, await create());
    await client.run({ method: "POST", path: configurations, requests: 1, body: configuration, lanes: 1 });
    await create(warming);
    beside = Math.min(beside, await create());
    await client.run({ method: "DELETE", path: `${configurations}/bench`, requests: 1, lanes: 1 });
    await create(warming);
  }
  console.log(
    `${lanes} at a time: create ${without.toFixed(0)} µs, with a webhook ${beside.toFixed(0)} µs: ` +
      `${(beside - without).toFixed(0)} µs more (at most ${most})`,
  );
}
