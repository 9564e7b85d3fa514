import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "#base";
import { type GrpcMethod, GrpcError, grpcServer, unaryProcedure } from "#http";
import { KeyServiceFailed } from "../errors.ts";
import type { DataKeyObserver } from "./kms.ts";
import { kmsV1 } from "./kms-v1.ts";
import { kmsV2 } from "./kms-v2.ts";

const flipped = (bytes: Uint8Array): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0x55));

/** Encodes a field by hand, so that the declared messages are checked against something independent. */
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

const timeoutMilliseconds = 1001;

/** Starts a key service whose calls time out only when a test requests it. */
async function service(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "kms-"));
  const socketPath = join(folder, "s");
  const state = {
    keyId: "key-1",
    healthz: "ok",
    version: "",
    fail: [] as string[],
    code: "INTERNAL" as "INTERNAL" | "UNAVAILABLE",
    annotate: false,
    forgetful: false,
    usedKeyId: undefined as string | undefined,
  };
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
      if (state.fail.includes(name)) throw new GrpcError(state.code, "refused");
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
      procedure(`${v1}/Decrypt`, (request) =>
        field(1, state.forgetful ? "pong" : flipped(fieldOf(request, 2))),
      ),
      procedure(`${v2}/Status`, () =>
        Buffer.concat([field(1, state.version || "v2beta1"), field(2, state.healthz), field(3, state.keyId)]),
      ),
      procedure(`${v2}/Encrypt`, (request) =>
        Buffer.concat([
          field(1, flipped(fieldOf(request, 1))),
          field(2, state.usedKeyId ?? state.keyId),
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
  let now = Date.now();
  const due: (() => void)[] = [];
  const deadlines = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    monotonic: () => now,
    after: (milliseconds, run) => {
      if (milliseconds === timeoutMilliseconds) {
        deadlines.add(run);
        return () => deadlines.delete(run);
      }
      if (milliseconds < 10_000) return systemClock.after(milliseconds, run);
      due.push(run);
      return () => undefined;
    },
  };
  const options = { name: "box", endpoint: `unix://${socketPath}`, timeoutMilliseconds, clock };
  return {
    state,
    calls,
    /** Advances the clock and runs all timers. */
    pass: (milliseconds: number) => {
      now += milliseconds;
      for (const run of due.splice(0)) run();
    },
    /**
     * Lets pending calls time out, after the turns in which they could fail otherwise, until the given
     * request settles.
     */
    expire: async (request: Promise<unknown>): Promise<void> => {
      let over = false;
      const ended = request.finally(() => (over = true));
      while (!over) {
        for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
        for (const run of deadlines) run();
      }
      await ended;
    },
    v1: (observer?: DataKeyObserver, changes: { cacheSize?: number; endpoint?: string } = {}) => {
      const provider = kmsV1({ ...options, cacheSize: 10, observer, ...changes });
      t.after(() => provider.close());
      return provider;
    },
    v2: (changes: { endpoint?: string } = {}) => {
      const provider = kmsV2({ ...options, onError: () => undefined, ...changes });
      t.after(() => provider.close());
      return provider;
    },
  };
}
const value = Buffer.from("a value");

test("version 1 stores the encrypted data key before each value, and caches data keys", async (t) => {
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

test("version 1 reports data keys that are generated, cached and requested", async (t) => {
  const { v1 } = await service(t);
  const observed: unknown[] = [];
  const observer: DataKeyObserver = {
    generated: (_seconds, succeeded) => observed.push(["generated", succeeded]),
    missed: () => observed.push("missed"),
    filled: (share) => observed.push(share),
    arrived: (kind) => observed.push(kind),
  };
  const sealed = await v1(observer).seal(value, "/a");
  assert.deepEqual(observed.splice(0), ["to_storage", ["generated", true], 0.1]);
  const other = v1(observer);
  await other.open(sealed, "/a");
  await other.open(sealed, "/a");
  assert.deepEqual(observed, ["from_storage", "missed", 0.1, "from_storage"]);
});

test("version 1 is unhealthy while the service fails or has another version, and recovers", async (t) => {
  const { v1, state, pass } = await service(t);
  const provider = v1();
  await provider.health();
  state.fail = ["Encrypt"];
  await provider.health();
  pass(21_000);
  const refused = "rpc error: code = Internal desc = refused";
  const section = (of: string): string =>
    `failed to perform ${of} section of the healthz check for KMS Provider box, error: ${refused}`;
  await assert.rejects(provider.health(), { message: section("encrypt") });
  await assert.rejects(provider.health(), { message: refused }, "the cached failure has no prefix");
  await assert.rejects(async () => await provider.seal(value, "/a"), new KeyServiceFailed(refused));
  state.fail = ["Decrypt"];
  pass(4000);
  await assert.rejects(provider.health(), { message: section("decrypt") });
  state.fail = [];
  pass(4000);
  await provider.health();
  state.version = "v9";
  await assert.rejects(async () => await v1().seal(value, "/a"), {
    message: "KMS provider api version v9 is not supported, only v1beta1 is supported now",
  });
  state.fail = ["Version"];
  await assert.rejects(async () => await v1().seal(value, "/a"), {
    message: `failed get version from remote KMS provider: ${refused}`,
  });
});

test("version 1 without a cache requests the key for each value", async (t) => {
  const { v1, calls } = await service(t);
  const provider = v1(undefined, { cacheSize: -1 });
  const sealed = await provider.seal(value, "/a");
  await provider.open(sealed, "/a");
  await provider.open(sealed, "/a");
  assert.deepEqual(calls, ["Version", "Encrypt", "Decrypt", "Decrypt"]);
});

test("a call refused as Unavailable is not retried", async (t) => {
  const { v1, calls, state } = await service(t);
  state.fail = ["Encrypt"];
  state.code = "UNAVAILABLE";
  await assert.rejects(async () => await v1().seal(value, "/a"), {
    message: "rpc error: code = Unavailable desc = refused",
  });
  assert.deepEqual(calls, ["Version", "Encrypt"]);
});

test("a call to a missing service waits, and fails with the connection error", async (t) => {
  const { v1, v2, expire } = await service(t);
  const endpoint = "unix:///nowhere/kms.sock";
  const why =
    'rpc error: code = DeadlineExceeded desc = latest balancer error: connection error: desc = "transport: Error while dialing: dial unix /nowhere/kms.sock: connect: no such file or directory"';
  await expire(
    assert.rejects(async () => await v1(undefined, { endpoint }).seal(value, "/a"), {
      message: `failed get version from remote KMS provider: ${why}`,
    }),
  );
  const provider = v2({ endpoint });
  await expire(
    assert.rejects(async () => await provider.seal(value, "/a"), {
      message: "got unexpected nil transformer",
    }),
  );
  await expire(assert.rejects(provider.health(), { message: why }));
});

test("version 1 is unhealthy while the service does not decrypt what it encrypted", async (t) => {
  const { v1, state } = await service(t);
  state.forgetful = true;
  await assert.rejects(v1().health(), { message: /decrypt section .* did not give back what it encrypted/ });
});

test("version 2 caches its health from the last status", async (t) => {
  const { v2, calls } = await service(t);
  const provider = v2();
  await provider.seal(value, "/a");
  await provider.health();
  assert.deepEqual(calls, ["Status", "Encrypt"]);
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

test("version 2 writes for three minutes without the service, and reads with cached keys beyond that", async (t) => {
  const { v2, state, pass } = await service(t);
  const provider = v2();
  const sealed = await provider.seal(value, "/a");
  state.fail = ["Status", "Encrypt", "Decrypt"];
  await provider.seal(value, "/a");
  pass(181_000);
  await assert.rejects(
    async () => await provider.seal(value, "/a"),
    /EDEK with keyID "key-1" expired at 20\S+Z \(current time is 20\S+Z\)$/,
  );
  assert.deepEqual(Buffer.from(await provider.open(sealed, "/a")), value);
  await assert.rejects(provider.health());
});

const unhealthy = "kmsv2 Provider box is not healthy, error: ";
for (const [name, change, why, writes] of [
  ["with a failing status", { healthz: "ill" }, "got unexpected healthz status: ill", true],
  ["of another version", { version: "v1" }, "expected KMSv2 API version v2beta1, got v1", true],
  ["without a key id", { keyId: "" }, 'got invalid KMSv2 KeyID "": keyID is empty', false],
  [
    "with all of these problems",
    { healthz: "ill", version: "v1", keyId: "" },
    '[got unexpected healthz status: ill, expected KMSv2 API version v2beta1, got v1, got invalid KMSv2 KeyID "": keyID is empty]',
    false,
  ],
] as const)
  test(`version 2: a service ${name} is unhealthy with kube-apiserver's message`, async (t) => {
    const { v2, state } = await service(t);
    Object.assign(state, change);
    const provider = v2();
    await assert.rejects(provider.health(), new KeyServiceFailed(`${unhealthy}${why}`));
    const sealed = (async () => await provider.seal(value, "/a"))();
    if (writes) assert.equal(fieldOf(Buffer.from(await sealed), 2).toString(), "key-1");
    else await assert.rejects(sealed, new KeyServiceFailed("got unexpected nil transformer"));
  });

test("version 2 creates no data key if the service uses another key than its status says, and reports all problems", async (t) => {
  const { v2, state } = await service(t);
  state.usedKeyId = "key-9";
  await assert.rejects(v2().health(), (error: Error) => {
    assert.match(
      error.message,
      /failed to rotate DEK uid="[-0-9a-f]{36}", errState=got unexpected nil transformer, errGen=<nil>, statusKeyID="key-1", encryptKeyID="key-9", stateKeyID="", expirationTimestamp=0001-01-01T00:00:00Z$/,
    );
    return true;
  });
  state.usedKeyId = undefined;
  state.fail = ["Encrypt"];
  await assert.rejects(
    v2().health(),
    /errGen=failed to encrypt DEK, error: rpc error: code = Internal desc = refused, statusKeyID/,
  );
});
