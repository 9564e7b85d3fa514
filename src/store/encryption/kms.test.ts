import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "#base";
import { type GrpcMethod, GrpcError, grpcServer, unaryProcedure } from "#http";
import type { DataKeyObserver } from "./kms.ts";
import { kmsV1 } from "./kms-v1.ts";
import { kmsV2 } from "./kms-v2.ts";

const flipped = (bytes: Uint8Array): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0x55));

/** Messages by hand, so that the declared ones are checked against something else. */
const field = (number: number, value: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([Buffer.of((number << 3) | 2, bytes.length), bytes]);
};
function fieldOf(message: Uint8Array, wanted: number): Buffer {
  for (let at = 0; at < message.length;) {
    const number = message[at]! >> 3;
    const length = message[at + 1]!;
    if (number === wanted) return Buffer.from(message.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return Buffer.alloc(0);
}

async function service(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "kms-"));
  const socketPath = join(folder, "s");
  const state = { keyId: "key-1", healthz: "ok", version: "", fail: [] as string[], annotate: false };
  const calls: string[] = [];
  const procedure = (path: string, answer: (request: Uint8Array) => Uint8Array) => {
    const method: GrpcMethod<Uint8Array, Uint8Array> = {
      path,
      encode: (bytes) => bytes,
      decode: (bytes) => bytes,
    };
    return unaryProcedure(method, (request) => {
      const name = path.split("/").at(-1)!;
      calls.push(name);
      if (state.fail.includes(name)) throw new GrpcError("INTERNAL", "refused");
      return answer(request);
    });
  };
  const v1 = "/v1beta1.KeyManagementService";
  const v2 = "/v2.KeyManagementService";
  const note = (): Buffer => field(3, Buffer.concat([field(1, "note.example.com"), field(2, "hello")]));
  const server = await grpcServer({
    socketPath,
    procedures: [
      procedure(`${v1}/Version`, () => field(1, state.version || "v1beta1")),
      procedure(`${v1}/Encrypt`, (request) => field(1, flipped(fieldOf(request, 2)))),
      procedure(`${v1}/Decrypt`, (request) => field(1, flipped(fieldOf(request, 2)))),
      procedure(`${v2}/Status`, () =>
        Buffer.concat([field(1, state.version || "v2beta1"), field(2, state.healthz), field(3, state.keyId)]),
      ),
      procedure(`${v2}/Encrypt`, (request) =>
        Buffer.concat([
          field(1, flipped(fieldOf(request, 1))),
          field(2, state.keyId),
          ...(state.annotate ? [note()] : []),
        ]),
      ),
      procedure(`${v2}/Decrypt`, (request) => field(1, flipped(fieldOf(request, 1)))),
    ],
  });
  t.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let ahead = 0;
  const due: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + ahead,
    after: (milliseconds, run) => {
      if (milliseconds < 10_000) return systemClock.after(milliseconds, run);
      due.push(run);
      return () => undefined;
    },
  };
  const options = { name: "box", endpoint: `unix://${socketPath}`, timeoutMilliseconds: 2000, clock };
  return {
    state,
    calls,
    /** Time passes, and whoever waits for it wakes. */
    pass: (milliseconds: number) => {
      ahead += milliseconds;
      for (const run of due.splice(0)) run();
    },
    v1: (observer?: DataKeyObserver) => {
      const provider = kmsV1({ ...options, cacheSize: 10, observer });
      t.after(() => provider.close());
      return provider;
    },
    v2: () => {
      const provider = kmsV2({ ...options, onError: () => undefined });
      t.after(() => provider.close());
      return provider;
    },
  };
}
const value = Buffer.from("a value");

test("version 1 stores the encrypted data key before each value, and keeps data keys", async (t) => {
  const { v1, calls } = await service(t);
  const provider = v1();
  const sealed = Buffer.from(await provider.seal(value, "/a"));
  assert.equal(sealed.readUInt16BE(0), 32);
  assert.deepEqual(Buffer.from(await provider.open(sealed, "/a")), value);
  await provider.seal(value, "/b");
  assert.deepEqual(calls, ["Version", "Encrypt", "Encrypt"]);
  const other = v1();
  assert.deepEqual(Buffer.from(await other.open(sealed, "/a")), value);
  await assert.rejects(async () => await other.open(sealed, "/b"));
  assert.equal(calls.filter((call) => call === "Decrypt").length, 1);
});

test("version 1 tells of keys that are made, kept and asked for", async (t) => {
  const { v1 } = await service(t);
  const told: unknown[] = [];
  const observer: DataKeyObserver = {
    generated: (_seconds, succeeded) => told.push(["generated", succeeded]),
    missed: () => told.push("missed"),
    filled: (share) => told.push(share),
  };
  const sealed = await v1(observer).seal(value, "/a");
  assert.deepEqual(told.splice(0), [["generated", true], 0.1]);
  const other = v1(observer);
  await other.open(sealed, "/a");
  await other.open(sealed, "/a");
  assert.deepEqual(told, ["missed", 0.1]);
});

test("version 1 is unhealthy while the service fails or speaks another version, and well again later", async (t) => {
  const { v1, state, pass } = await service(t);
  const provider = v1();
  await provider.health();
  state.fail = ["Encrypt"];
  await provider.health();
  pass(21_000);
  await assert.rejects(provider.health(), /refused/);
  await assert.rejects(async () => await provider.seal(value, "/a"), /refused/);
  state.fail = [];
  pass(4000);
  await provider.health();
  state.version = "v9";
  await assert.rejects(async () => await v1().seal(value, "/a"), /speaks version "v9"/);
});

test("version 2 uses one data key until the key id changes; then old values are stale", async (t) => {
  const { v2, calls, state, pass } = await service(t);
  const provider = v2();
  const first = Buffer.from(await provider.seal(value, "/a"));
  await provider.seal(value, "/b");
  assert.equal(calls.filter((call) => call === "Encrypt").length, 1);
  assert.equal(fieldOf(first, 2).toString(), "key-1");
  assert.equal(provider.isStale!(first), false);
  state.keyId = "key-2";
  state.annotate = true;
  pass(61_000);
  while (!provider.isStale!(first)) await new Promise((resolve) => setImmediate(resolve));
  const second = Buffer.from(await provider.seal(value, "/a"));
  assert.equal(fieldOf(second, 2).toString(), "key-2");
  assert.match(fieldOf(second, 4).toString(), /note\.example\.com/);
  assert.deepEqual(Buffer.from(await provider.open(first, "/a")), value);
  assert.deepEqual(Buffer.from(await v2().open(second, "/a")), value);
});

test("version 2 writes on for three minutes without the service, then no more; what was read is read on", async (t) => {
  const { v2, state, pass } = await service(t);
  const provider = v2();
  const sealed = await provider.seal(value, "/a");
  state.fail = ["Status", "Encrypt", "Decrypt"];
  await provider.seal(value, "/a");
  pass(181_000);
  await assert.rejects(async () => await provider.seal(value, "/a"), /refused/);
  assert.deepEqual(Buffer.from(await provider.open(sealed, "/a")), value);
  await assert.rejects(provider.health());
});

for (const [name, change] of [
  ["a service that is not well", { healthz: "ill" }],
  ["another version", { version: "v1" }],
  ["no key id", { keyId: "" }],
] as const)
  test(`version 2 refuses ${name}`, async (t) => {
    const { v2, state } = await service(t);
    Object.assign(state, change);
    const provider = v2();
    await assert.rejects(provider.health(), /key service/);
    await assert.rejects(async () => await provider.seal(value, "/a"), /key service/);
  });
