// The secure port on real sockets: certificates, limits, headers, compression, and shutdown.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type ClientRequest, request as plainRequest } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type ConnectionOptions, type TLSSocket, connect } from "node:tls";
import { gunzipSync } from "node:zlib";
import { type StartedServer, settleFlags, start } from "#apiserver";
import { createAuthority, selfSigned, signClient, writePair } from "#authn";
import { silentLog } from "#base";
import { dialects } from "#dialect";
import { freePort, startApiserver, until } from "#kit";

const folder = mkdtempSync(join(tmpdir(), "orch-serving-"));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);
const pair = (name: string, names: readonly string[]): void =>
  writePair(
    selfSigned({ commonName: name }, names, { now: Date.now(), days: 2 }),
    file(`${name}.crt`),
    file(`${name}.key`),
  );
pair("main", ["localhost", "127.0.0.1"]);
pair("exact", ["one.test.example"]);
pair("wild", ["*.test.example"]);
writePair(
  selfSigned({ commonName: "accounts" }, [], { now: Date.now(), days: 2 }),
  file("accounts.crt"),
  file("accounts.key"),
);
writeFileSync(file("tokens.csv"), 'admin-token,admin,admin,"system:masters"\nuser-token,user,user\n');

interface Served extends AsyncDisposable {
  readonly server: StartedServer;
  readonly port: number;
}

async function serve(...flags: string[]): Promise<Served> {
  const port = await freePort();
  const settled = settleFlags(dialects.orch, [
    "--store-servers=memory://",
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--tls-cert-file=${file("main.crt")}`,
    `--tls-private-key-file=${file("main.key")}`,
    `--token-auth-file=${file("tokens.csv")}`,
    "--service-account-issuer=https://issuer.test",
    `--service-account-signing-key-file=${file("accounts.key")}`,
    `--service-account-key-file=${file("accounts.key")}`,
    ...flags,
  ]);
  assert.deepEqual(settled.errors, []);
  const server = await start({
    dialect: dialects.orch,
    settings: settled.values,
    gates: settled.gates,
    log: silentLog,
  });
  return { server, port, [Symbol.asyncDispose]: () => server.stop() };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

function ask(
  { port }: { readonly port: number },
  path: string,
  options: RequestOptions = {},
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: "Bearer admin-token",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(options.headers as object),
    };
    const sent = request(
      { host: "127.0.0.1", port, path, agent: false, rejectUnauthorized: false, ...options, headers },
      (reply) => {
        const chunks: Buffer[] = [];
        reply.on("data", (chunk: Buffer) => chunks.push(chunk));
        reply.on("end", () =>
          resolve({ status: reply.statusCode!, headers: reply.headers, body: Buffer.concat(chunks) }),
        );
        reply.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Sends a request with an incomplete body. */
function halfSent({ port }: { readonly port: number }, token: string): ClientRequest {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": 100,
  };
  const sent = request({
    host: "127.0.0.1",
    port,
    path: "/api/v1/namespaces/default/configmaps",
    method: "POST",
    agent: false,
    rejectUnauthorized: false,
    headers,
  });
  sent.on("error", () => undefined);
  sent.write("{");
  return sent;
}

async function shake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...options });
  await once(socket, "secureConnect");
  return socket;
}
async function commonName(port: number, servername: string): Promise<string | string[] | undefined> {
  const socket = await shake(port, { servername });
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return name;
}

test("a server name selects its certificate: exact before wildcard, configured before discovered, else the default", async () => {
  await using served = await serve(
    `--tls-sni-cert-key=${file("wild.crt")},${file("wild.key")}`,
    `--tls-sni-cert-key=${file("exact.crt")},${file("exact.key")}`,
    `--tls-sni-cert-key=${file("wild.crt")},${file("wild.key")}:given.example`,
  );
  const names = ["one.test.example", "two.test.example", "given.example", "other.example"];
  assert.deepEqual(await Promise.all(names.map((name) => commonName(served.port, name))), [
    "exact",
    "wild",
    "wild",
    "main",
  ]);
});

test("a replaced certificate is served to new connections", async () => {
  pair("changing", ["localhost"]);
  const flags = [`--tls-cert-file=${file("changing.crt")}`, `--tls-private-key-file=${file("changing.key")}`];
  await using served = await serve(...flags);
  const serial = async (): Promise<string> => {
    const socket = await shake(served.port, {});
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const before = await serial();
  pair("changing", ["localhost"]);
  utimesSync(file("changing.crt"), 1, 1);
  await until("the new certificate is served", async () => (await serial()) !== before);
});

test("replaced client authorities are trusted, and their predecessors no longer", async () => {
  const today = { now: Date.now(), days: 2 };
  const [before, after] = [
    createAuthority({ commonName: "before" }, today),
    createAuthority({ commonName: "after" }, today),
  ];
  const [old, fresh] = [
    signClient(before, { commonName: "someone" }, today),
    signClient(after, { commonName: "someone" }, today),
  ];
  writeFileSync(file("authorities.crt"), before.certificate);
  await using served = await serve(`--client-ca-file=${file("authorities.crt")}`);
  const status = async ({ certificate, key }: typeof old): Promise<number> =>
    (await ask(served, "/version", { cert: certificate, key, headers: { authorization: "" } })).status;
  assert.deepEqual([await status(old), await status(fresh)], [200, 401]);
  writeFileSync(file("authorities.crt"), after.certificate);
  await until("the old authority is no longer trusted", async () => (await status(old)) !== 200);
  assert.deepEqual([await status(old), await status(fresh)], [401, 200]);
});

async function agreedCipher(port: number, options: Parameters<typeof shake>[1]): Promise<string> {
  const socket = await shake(port, options);
  try {
    return socket.getCipher().name;
  } finally {
    socket.destroy();
  }
}

test("TLS below the oldest version is refused, and the chosen cipher suite is used", async () => {
  await using served = await serve(
    "--tls-min-version=VersionTLS12",
    "--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  );
  await assert.rejects(
    shake(served.port, { maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" }),
  );
  const cipherOf = (maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<string> =>
    agreedCipher(served.port, { maxVersion });
  assert.equal(await cipherOf("TLSv1.2"), "ECDHE-ECDSA-AES256-GCM-SHA384");
  // TLS 1.3 ignores the list, and of its suites the server prefers the cheapest, whatever the client prefers.
  assert.equal(await cipherOf("TLSv1.3"), "TLS_AES_128_GCM_SHA256");
});

test("a server generates a key that suits its configured cipher suites", async () => {
  await using served = await serve(
    "--tls-cert-file=",
    "--tls-private-key-file=",
    `--cert-dir=${file("own")}`,
    "--tls-cipher-suites=TLS_RSA_WITH_AES_256_CBC_SHA,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  );
  const cipherOf = (ciphers: string): Promise<string> =>
    agreedCipher(served.port, { maxVersion: "TLSv1.2", ciphers });
  for (const cipher of ["AES256-SHA", "ECDHE-RSA-AES128-GCM-SHA256"])
    assert.equal(await cipherOf(cipher), cipher);
  await assert.rejects(cipherOf("ECDHE-RSA-AES256-GCM-SHA384"));
});

test("a client certificate is requested only if one could be used", async () => {
  await using without = await serve();
  await using withAuthority = await serve(`--client-ca-file=${file("main.crt")}`);
  assert.equal((await ask(without, "/version")).status, 200);
  assert.equal((await ask(withAuthority, "/version")).status, 200);
});

test("large responses are compressed for clients that accept it, over both protocols", async () => {
  await using served = await serve();
  const data = JSON.stringify({ metadata: { name: "large" }, data: { text: "x".repeat(300_000) } });
  assert.equal(
    (await ask(served, "/api/v1/namespaces/default/configmaps", { method: "POST" }, data)).status,
    201,
  );
  const path = "/api/v1/namespaces/default/configmaps";
  const plain = await ask(served, path);
  const zipped = await ask(served, path, { headers: { "accept-encoding": "gzip" } });
  assert.equal(plain.headers["content-encoding"], undefined);
  assert.equal(plain.headers["content-length"], String(plain.body.length));
  assert.deepEqual([zipped.headers["content-encoding"], zipped.headers["vary"]], ["gzip", "Accept-Encoding"]);
  assert.ok(zipped.body.length < plain.body.length / 10);
  assert.deepEqual(gunzipSync(zipped.body), plain.body);
  const session = connectHttp2(`https://127.0.0.1:${served.port}`, { rejectUnauthorized: false });
  const [headers, body] = await askHttp2(session, path, { "accept-encoding": "gzip" });
  session.close();
  assert.equal(headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(body), plain.body);
});

async function askHttp2(
  session: ClientHttp2Session,
  path: string,
  headers: Record<string, string> = {},
): Promise<[Record<string, unknown>, Buffer]> {
  const stream = session.request({ ":path": path, authorization: "Bearer admin-token", ...headers });
  const [answered] = (await once(stream, "response")) as [Record<string, unknown>];
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return [answered, Buffer.concat(chunks)];
}

test("some HTTP/2 clients are asked to reconnect by GOAWAY, and still receive their response", async () => {
  await using served = await serve("--goaway-chance=0.02");
  const session = connectHttp2(`https://127.0.0.1:${served.port}`, { rejectUnauthorized: false });
  let isRequested = false;
  session.on("goaway", () => (isRequested = true));
  for (let at = 0; at < 5000 && !isRequested && !session.closed && !session.destroyed; at++)
    assert.equal((await askHttp2(session, "/version"))[0][":status"], 200);
  session.close();
  assert.ok(isRequested);
});

test("headers beyond the limit are refused and the server keeps running", async () => {
  await using served = await serve();
  assert.equal((await ask(served, "/version", { headers: { "x-long": "x".repeat(100_000) } })).status, 431);
  assert.equal((await ask(served, "/version")).status, 200);
});

for (const [name, off] of [
  [
    "too many requests in flight answer 429 and Retry-After, but for watches and superusers",
    "--enable-priority-and-fairness=false",
  ],
  [
    "priority and fairness needs its feature gate too: without it too many requests are refused at once",
    "--feature-gates=APIPriorityAndFairness=false",
  ],
] as const) {
  test(name, () => tooManyAreRefused(off));
}

async function tooManyAreRefused(off: string): Promise<void> {
  await using served = await serve("--max-requests-inflight=1", "--max-mutating-requests-inflight=1", off);
  const maps = "/api/v1/namespaces/default/configmaps";
  const as = (token: string, path = maps) =>
    ask(served, path, { headers: { authorization: `Bearer ${token}` } });
  // A write whose body has not arrived does not count against the limit of reads.
  const unfinished = halfSent(served, "user-token");
  assert.equal((await as("user-token")).status, 200);
  unfinished.destroy();
  // A list that waits for a revision is counted for some seconds, in which other requests are refused.
  const refused = await until("a request is refused", async () => {
    let over = false;
    const late = as("user-token", `${maps}?resourceVersion=999999&resourceVersionMatch=NotOlderThan`);
    const waiting = late.finally(() => (over = true));
    while (!over) {
      const answer = await as("user-token");
      if (answer.status === 200) continue;
      assert.equal((await as("admin-token")).status, 200);
      assert.equal((await waiting).status, 504);
      return answer;
    }
    return undefined;
  });
  assert.deepEqual([refused.status, refused.headers["retry-after"]], [429, "1"]);
}

test("a request that takes too long answers 504", async () => {
  await using served = await serve("--request-timeout=300ms");
  const slow = halfSent(served, "admin-token");
  const [reply] = (await once(slow, "response")) as [{ statusCode: number }];
  assert.equal(reply.statusCode, 504);
  slow.destroy();
});

test("metrics count requests, and disabled metrics are not exposed", async () => {
  await using served = await serve("--disabled-metrics=process_open_fds");
  await ask(served, "/api/v1/namespaces/default");
  // Objects are counted in the background.
  const { body, headers } = await until("objects are counted", async () => {
    const answer = await ask(served, "/metrics");
    return answer.body.includes("apiserver_storage_objects{") && answer;
  });
  assert.match(String(headers["content-type"]), /^text\/plain; version=0\.0\.4/);
  assert.match(
    body.toString(),
    /^apiserver_request_total\{code="200",.*resource="namespaces",.*verb="GET",version="v1"\} 1$/m,
  );
  assert.match(body.toString(), /^apiserver_storage_objects\{resource="namespaces"\} 4$/m);
  assert.match(body.toString(), /^nodejs_eventloop_delay_seconds_count \d+$/m);
  assert.doesNotMatch(body.toString(), /process_open_fds/);
});

test("profiling is served on the port and on the debug socket, or not at all", async () => {
  const path = file("debug.sock");
  await using on = await serve(`--debug-socket-path=${path}`);
  await using off = await serve("--profiling=false");
  assert.equal((await ask(on, "/debug/pprof/")).status, 200);
  assert.equal((await ask(off, "/debug/pprof/")).status, 404);
  const sent = plainRequest({ socketPath: path, path: "/debug/pprof/symbol" }).end();
  const [reply] = (await once(sent, "response")) as [{ statusCode: number; resume(): void }];
  assert.equal(reply.statusCode, 200);
  reply.resume();
});

test("a stop inside this process ends watches and leaves nothing behind", async () => {
  const served = await serve();
  const watching = request({
    host: "127.0.0.1",
    port: served.port,
    path: "/api/v1/namespaces?watch=1",
    agent: false,
    rejectUnauthorized: false,
    headers: { authorization: "Bearer admin-token" },
  }).end();
  const [reply] = (await once(watching, "response")) as [NodeJS.ReadableStream];
  reply.resume();
  const ended = once(reply, "end");
  await served.server.stop();
  await ended;
  await assert.rejects(ask(served, "/version"), /ECONNREFUSED/);
});

test("the program: not ready at once, 429 while it drains, a second signal ends it", async () => {
  await using server = await startApiserver({
    flags: ["--shutdown-delay-duration=5m", "--shutdown-send-retry-after=true"],
  });
  process.kill(server.pid, "SIGTERM");
  await until("it is not ready", async () => (await server.call("GET", "/readyz")).status !== 200);
  assert.equal((await server.call("GET", "/readyz")).status, 500);
  assert.equal((await server.call("GET", "/livez")).status, 200);
  assert.equal((await server.call("GET", "/api/v1/namespaces/default")).status, 200);
  assert.equal(await server.stop(), 1);
});

test("the program ends by itself with code 0 when nothing is in flight", async () => {
  await using server = await startApiserver({ flags: ["--shutdown-send-retry-after=true"] });
  assert.equal(await server.stop(), 0);
});
