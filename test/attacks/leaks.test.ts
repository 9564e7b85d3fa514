// Searches for secrets where they must not occur: the log at its highest verbosity, metrics, traces, errors,
// audit events at Metadata, debug dumps, heap profiles, store files and their backup.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type ServerHttp2Stream, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { startServer } from "#apiserver";
import { createLog } from "#base";
import { backupStore } from "#store";
import { group } from "./target.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "attack-leaks-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, content: object | string): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};

// Each secret occurs only in what the requests send, so that any match was stored or disclosed by the server.
const hidden = {
  "the value of a secret": "vault-4711-one",
  "a value sent as text": "vault-4711-two",
  "a value of a patch": "vault-4711-three",
  "a value of an apply": "vault-4711-four",
  "a value of a refused secret": "vault-4711-five",
  "a value that breaks the JSON": "vault-4711-six",
  "a static token": "token-4711-admin",
  "a token that is unknown": "token-4711-wrong",
  "a token under review": "token-4711-reviewed",
} as const;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const key = randomBytes(32).toString("base64");

let traces = "";
const collector = createServer();
collector.on("stream", (stream: ServerHttp2Stream) => {
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => (traces += chunk.toString("latin1")));
  stream.on("end", () => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(Buffer.alloc(5));
  });
});
await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
after(() => collector.close());

let logged = "";
const audit = join(folder, "audit.log");
const data = join(folder, "data");
const server = await startServer({
  store: { dir: data },
  log: createLog({ verbosity: 10, sink: { write: (line) => (logged += line), flush: () => undefined } }),
  flags: [
    `--token-auth-file=${file("tokens.csv", `${hidden["a static token"]},admin,1,system:masters\n`)}`,
    `--encryption-provider-config=${file("encryption.json", {
      apiVersion: `${group("apiserver.config")}/v1`,
      kind: "EncryptionConfiguration",
      resources: [
        { resources: ["secrets"], providers: [{ aesgcm: { keys: [{ name: "k", secret: key }] } }] },
      ],
    })}`,
    `--audit-policy-file=${file("policy.json", {
      apiVersion: `${group("audit")}/v1`,
      kind: "Policy",
      rules: [{ level: "Metadata" }],
    })}`,
    `--audit-log-path=${audit}`,
    `--tracing-config-file=${file("tracing.json", {
      apiVersion: `${group("apiserver.config")}/v1beta1`,
      kind: "TracingConfiguration",
      endpoint: `127.0.0.1:${(collector.address() as AddressInfo).port}`,
      samplingRatePerMillion: 1_000_000,
    })}`,
  ],
});
after(() => server.stop());

const answers: string[] = [];
async function send(method: string, path: string, body?: object | string, more: Record<string, string> = {}) {
  const answer = await server.inject({
    method,
    path,
    ...(more.authorization !== undefined && { trusted: null }),
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...more },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await answer.bytes());
  return { status: answer.status, bytes };
}
const secrets = "/api/v1/namespaces/default/secrets";
const secretNamed = (name: string, value: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: { v: base64(value) },
  ...more,
});

/** Sends requests that carry or touch secrets; the responses of those that fail are recorded. */
async function handleSecrets(): Promise<void> {
  const fails = async (...request: Parameters<typeof send>): Promise<void> => {
    const { status, bytes } = await send(...request);
    assert.ok(status >= 400, `${request[0]} ${request[1]} was answered with ${status}`);
    answers.push(bytes.toString());
  };
  const succeeds = async (...request: Parameters<typeof send>): Promise<void> => {
    const { status, bytes } = await send(...request);
    assert.ok(status < 300, `${request[0]} ${request[1]}: ${status} ${bytes.toString().slice(0, 200)}`);
  };
  const one = hidden["the value of a secret"];
  await succeeds("POST", secrets, secretNamed("one", one));
  await succeeds("POST", secrets, {
    metadata: { name: "two" },
    stringData: { v: hidden["a value sent as text"] },
  });
  await succeeds(
    "PATCH",
    `${secrets}/one`,
    { data: { w: base64(hidden["a value of a patch"]) } },
    { "content-type": "application/merge-patch+json" },
  );
  await succeeds(
    "PATCH",
    `${secrets}/one?fieldManager=m&force=true`,
    secretNamed("one", hidden["a value of an apply"]),
    { "content-type": "application/apply-patch+yaml" },
  );
  await succeeds("GET", secrets);
  await succeeds("GET", `${secrets}/one`, undefined, {
    authorization: `Bearer ${hidden["a static token"]}`,
  });
  const five = hidden["a value of a refused secret"];
  await fails("POST", secrets, secretNamed("five", five, { type: "orch.io/tls" }));
  await fails("POST", secrets, secretNamed("one", five));
  await fails("POST", secrets, secretNamed("Not A Name", five));
  await fails(
    "POST",
    `${secrets}?fieldValidation=Strict`,
    secretNamed("five", five, { unknown: five.length }),
  );
  await fails("PUT", `${secrets}/one`, { ...secretNamed("one", five), immutable: "yes" });
  await fails("PUT", `${secrets}/two`, {
    ...secretNamed("two", five),
    metadata: { name: "two", resourceVersion: "1" },
  });
  for (const type of ["merge-patch", "strategic-merge-patch", "json-patch"])
    await fails(
      "PATCH",
      `${secrets}/one`,
      type === "json-patch"
        ? [{ op: "add", path: "/data/x", value: { x: five } }]
        : { data: { x: { x: five } } },
      { "content-type": `application/${type}+json` },
    );
  await fails(
    "POST",
    secrets,
    `{"metadata":{"name":"six"},"stringData":{"v":"${hidden["a value that breaks the JSON"]}"`,
  );
  await fails("GET", secrets, undefined, { authorization: `Bearer ${hidden["a token that is unknown"]}` });
  await succeeds("POST", `/apis/${group("authentication")}/v1/tokenreviews`, {
    spec: { token: hidden["a token under review"] },
  });
}
await handleSecrets();

const text = async (path: string): Promise<string> => {
  const { status, bytes } = await send("GET", path);
  assert.equal(status, 200, `${path}: ${bytes.toString().slice(0, 200)}`);
  return (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString("latin1");
};
const filesIn = (dir: string): string =>
  (readdirSync(dir, { recursive: true }) as string[])
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"))
    .join("\n");

const dumps = ["requests", "queues", "priority_levels"].map(
  (name) => `/debug/api_priority_and_fairness/dump_${name}`,
);
const places: [name: string, content: () => Promise<string>][] = [
  ["errors", async () => answers.join("\n")],
  ["metrics", async () => await text("/metrics")],
  ["metrics of objectives", async () => await text("/metrics/slis")],
  ["audit events at Metadata", async () => readFileSync(audit, "utf8")],
  ["the log", async () => logged],
  ["a profile of the heap", async () => await text("/debug/pprof/heap?seconds=1")],
  [
    "a profile of the heap for developers",
    async () => await text("/debug/pprof/heap?seconds=1&format=devtools"),
  ],
  ["debug dumps of fairness", async () => (await Promise.all(dumps.map(text))).join("\n")],
  ["events", async () => await text(`/apis/${group("events")}/v1/events`)],
  [
    "a backup of the store",
    async () => {
      await backupStore(join(data, "store"), join(folder, "backup"));
      return readFileSync(join(folder, "backup"), "latin1");
    },
  ],
  ["files of the store", async () => filesIn(data)],
  [
    "traces",
    async () => {
      await server.stop();
      assert.match(traces, /secrets/, "no spans were exported");
      return traces;
    },
  ],
  ["files of the store after a stop", async () => filesIn(data)],
];
for (const [place, content] of places) {
  test(`no secret is found in ${place}`, async () => {
    const found = await content();
    assert.ok(found.length > 0, "there is nothing to search");
    const leaked = Object.entries({ ...hidden, "the key of the encryption": key })
      .filter(([, value]) =>
        [value, base64(value), base64(value).replace(/=+$/, "")].some((form) => found.includes(form)),
      )
      .map(([what]) => what);
    assert.deepEqual(leaked, []);
  });
}
