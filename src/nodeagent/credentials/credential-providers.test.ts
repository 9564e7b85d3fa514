import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { credentialProviders } from "./credential-providers.ts";
import { credentialsFor } from "./keyring.ts";

const apiVersion = "credentialprovider.example/v1";
const response = (more: object = {}): string =>
  JSON.stringify({
    apiVersion,
    kind: "CredentialProviderResponse",
    cacheKeyType: "Image",
    auth: { "r.example": { username: "u", password: "p" } },
    ...more,
  });

function setUp(respond: () => string, defaultCacheMilliseconds = 60_000) {
  const clock = virtualClock();
  const inputs: string[] = [];
  const it = credentialProviders({
    clock,
    log: silentLog,
    providers: [
      {
        name: "plug",
        matchImages: ["*.example"],
        defaultCacheMilliseconds,
        apiVersion,
        run: async (input) => {
          inputs.push(input);
          return respond();
        },
      },
    ],
  });
  const signal = new AbortController().signal;
  return { clock, inputs, lookUp: async (image: string) => (await it.credentials(image, signal))[0]!.length };
}

test("a provider gets one line of JSON, and is run only for images that it matches", async () => {
  const { lookUp, inputs } = setUp(response);
  assert.equal(await lookUp("other.test/a"), 0);
  assert.equal(await lookUp("r.example/a"), 1);
  assert.deepEqual(inputs, [
    `{"kind":"CredentialProviderRequest","apiVersion":"${apiVersion}","image":"r.example/a"}\n`,
  ]);
});

const kept: [name: string, more: object, defaultMilliseconds: number, asks: number][] = [
  ["by the default duration", {}, 60_000, 1],
  ["for the registry", { cacheKeyType: "Registry" }, 60_000, 1],
  ["for all images", { cacheKeyType: "Global" }, 60_000, 1],
  ["even if it has no credentials", { auth: null }, 60_000, 1],
  ["not at all if the default is zero", {}, 0, 2],
  ["not at all if the response says zero", { cacheDuration: "0s" }, 60_000, 2],
  ["no longer than the response says", { cacheDuration: "-5s" }, 60_000, 2],
  ["not at all with an unknown key type", { cacheKeyType: "image" }, 60_000, 2],
];
for (const [name, more, defaultMilliseconds, asks] of kept)
  test(`a response is cached ${name}`, async () => {
    const { lookUp, inputs } = setUp(() => response(more), defaultMilliseconds);
    await lookUp("r.example/a");
    await lookUp("r.example/a");
    assert.equal(inputs.length, asks);
  });

test("a provider is run again when its cached response has expired", async () => {
  const { lookUp, inputs, clock } = setUp(() => response({ cacheDuration: "5s" }));
  await lookUp("r.example/a");
  await clock.advance(5000);
  await lookUp("r.example/a");
  assert.equal(inputs.length, 2);
});

test("a cached response expires also if the clock is set back", async () => {
  const { lookUp, inputs, clock } = setUp(() => response({ cacheDuration: "5s" }));
  clock.set(100_000);
  await lookUp("r.example/a");
  clock.set(10_000);
  await clock.advance(5000);
  await lookUp("r.example/a");
  assert.equal(inputs.length, 2);
});

test("a run that ends with the pod that started it is repeated for the pods that waited for it", async () => {
  let runs = 0;
  const it = credentialProviders({
    clock: virtualClock(),
    log: silentLog,
    providers: [
      {
        name: "plug",
        matchImages: ["*.example"],
        defaultCacheMilliseconds: 0,
        apiVersion,
        run: (_, signal) =>
          ++runs > 1
            ? Promise.resolve(response())
            : new Promise((_resolve, reject) =>
                signal.addEventListener("abort", () => reject(new Error("killed"))),
              ),
      },
    ],
  });
  const deleted = new AbortController();
  const first = it.credentials("r.example/a", deleted.signal);
  const others = [1, 2].map(() => it.credentials("r.example/a", new AbortController().signal));
  deleted.abort();
  assert.deepEqual(await first, [[]]);
  for (const sets of await Promise.all(others)) assert.equal(sets[0]!.length, 1);
  assert.equal(runs, 2);
});

const useless: [name: string, output: string][] = [
  ["of another version", response({ apiVersion: "v2" })],
  ["of another kind", response({ kind: "CredentialProviderRequest" })],
  ["that is not JSON", "kind: x"],
  ["with a duration that is a number", response({ cacheDuration: 5 })],
  ["with a list of credentials", response({ auth: [] })],
  ["without a key type", response({ cacheKeyType: undefined })],
];
for (const [name, output] of useless)
  test(`a response ${name} yields no credentials and is not cached`, async () => {
    const { lookUp, inputs } = setUp(() => output);
    assert.equal(await lookUp("r.example/a"), 0);
    await lookUp("r.example/a");
    assert.equal(inputs.length, 2);
  });

test("providers are run in the order of their names, and only failing programs count as failed", async () => {
  const order: string[] = [];
  const runs: string[] = [];
  const provider = (name: string, output: string | undefined) => ({
    name,
    matchImages: ["*.example"],
    defaultCacheMilliseconds: 0,
    apiVersion,
    run: async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
      if (output === undefined) throw new Error("exit status 1");
      return output;
    },
  });
  const it = credentialProviders({
    clock: virtualClock(),
    log: silentLog,
    providers: [provider("b", "no JSON"), provider("c", undefined), provider("a", response())],
    onRun: (name, _, isGood) => void runs.push(`${name} ${isGood}`),
  });
  const sets = await it.credentials("r.example/a", new AbortController().signal);
  assert.deepEqual(
    sets.map(({ length }) => length),
    [1, 0, 0],
  );
  assert.deepEqual(order, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  assert.deepEqual(runs, ["a true", "b true", "c false"]);
});

const places: [image: string, users: readonly string[]][] = [
  ["registry.io/team/app:1", ["app", "team", "host", "glob"]],
  ["registry.io/teams/x", ["team", "host", "glob"]],
  ["registry.io:5000/x", ["port"]],
  ["busybox", ["hub"]],
  ["docker.io/library/busybox", ["docker", "glob"]],
];
for (const [image, users] of places)
  test(`credentials for ${image} are tried from the most specific location`, () => {
    const auths = Object.entries({
      "*.io": "glob",
      "registry.io": "host",
      "registry.io/team": "team",
      "registry.io/team/app": "app",
      "registry.io:5000": "port",
      "https://index.docker.io/v1/": "hub",
      "docker.io/library": "docker",
    }).map(([place, username]) => [place, { username }] as const);
    assert.deepEqual(
      credentialsFor(image, [auths]).map(({ username }) => username),
      users,
    );
  });

test("of two sets with the same location the first takes precedence", () => {
  const set = (username: string) => [["r.example", { username }]] as const;
  assert.deepEqual(
    credentialsFor("r.example/a", [set("first"), set("second")]).map(({ username }) => username),
    ["first", "second"],
  );
});
