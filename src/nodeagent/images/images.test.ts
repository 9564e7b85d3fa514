import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Secret } from "#api";
import { virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { dialects } from "#dialect";
import { backOff } from "../plan/backoff.ts";
import { samplePod } from "../pod.fixture.ts";
import { credentialsFor } from "../credentials/keyring.ts";
import { secretAuths } from "./credentials.ts";
import { parseImageName, withDefaultTag } from "./image-name.ts";
import { images } from "./images.ts";
import { pullLimits, PullRateExceeded, pullQueue } from "./pull-queue.ts";

const digest = `sha256:${"a".repeat(64)}`;
const names: [
  text: string,
  registry: string,
  repository: string,
  tag?: string | undefined,
  digest?: string,
][] = [
  ["busybox", "docker.io", "library/busybox"],
  ["busybox:1", "docker.io", "library/busybox", "1"],
  ["some/thing", "docker.io", "some/thing"],
  ["reg.example/some/thing:v1.2", "reg.example", "some/thing", "v1.2"],
  ["localhost/x", "localhost", "x"],
  ["localhost:5000/x:y", "localhost:5000", "x", "y"],
  [`reg.example/x@${digest}`, "reg.example", "x", undefined, digest],
  [`reg.example/x:t@${digest}`, "reg.example", "x", "t", digest],
  ["index.docker.io/a/b", "docker.io", "a/b"],
  ["[fd00::1]:5000/x", "[fd00::1]:5000", "x"],
];
for (const [text, registry, repository, tag, hash] of names) {
  test(`${text} is a valid image reference`, () =>
    assert.deepEqual(parseImageName(text), {
      registry,
      repository,
      ...(tag && { tag }),
      ...(hash && { digest: hash }),
    }));
}
for (const text of [
  "",
  "Not A/Valid::Name",
  "UPPER",
  "UPPER/x",
  "Upper/x:1",
  "a//b",
  "a:b:c",
  "x@sha256:short",
  "-x",
  `${"a".repeat(300)}`,
  "b".repeat(64).replaceAll("b", "0"),
]) {
  test(`${JSON.stringify(text.slice(0, 20))} is not a valid image reference`, () =>
    assert.throws(() => parseImageName(text)));
}
test("a reference without tag and digest gets the tag latest", () => {
  assert.deepEqual(["a", "a:1", `a@${digest}`, "r:5000/a"].map(withDefaultTag), [
    "a:latest",
    "a:1",
    `a@${digest}`,
    "r:5000/a:latest",
  ]);
});

const secret = (auths: object): Secret =>
  ({
    type: dialects.orch.names.secretTypes.dockerConfigJson,
    data: { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") },
  }) as unknown as Secret;
const user = (name: string) => ({ username: name, password: "p" });
const credentials: [name: string, image: string, auths: object, users: string[]][] = [
  ["the registry", "r.example/x", { "r.example": user("a") }, ["a"]],
  ["a URL", "r.example/x", { "https://r.example/v1/": user("a") }, ["a"]],
  ["another registry", "r.example/x", { "s.example": user("a") }, []],
  [
    "the longest path first",
    "r.example/x/y",
    { "r.example": user("a"), "r.example/x": user("b"), "r.example/xy": user("c") },
    ["b", "a"],
  ],
  ["a pattern", "eu.r.example/x", { "*.r.example": user("a"), "*.example": user("b") }, ["a"]],
  ["the default registry", "busybox", { "https://index.docker.io/v1/": user("a") }, ["a"]],
  [
    "user name and password in one field",
    "r.example/x",
    { "r.example": { auth: Buffer.from("a:p").toString("base64") } },
    ["a"],
  ],
];
const placeOf = (image: string): string => {
  const { registry, repository } = parseImageName(image);
  return `${registry}/${repository}`;
};
for (const [name, image, auths, users] of credentials) {
  test(`credentials by ${name}`, () =>
    assert.deepEqual(
      credentialsFor(placeOf(image), secretAuths([secret(auths)], dialects.orch)).map(
        ({ username }) => username,
      ),
      users,
    ));
}
const pullSecret = (config: unknown): Secret =>
  ({
    type: dialects.orch.names.secretTypes.dockerConfigJson,
    data: { ".dockerconfigjson": Buffer.from(JSON.stringify(config)).toString("base64") },
  }) as unknown as Secret;
test("user name and password in one field take precedence over the others", () => {
  const auth = Buffer.from("new:a:b").toString("base64").replace(/=+$/, "");
  assert.deepEqual(secretAuths([secret({ "r.example": { ...user("old"), auth } })], dialects.orch), [
    [["r.example", { username: "new", password: "a:b" }]],
  ]);
});
const malformed: [config: unknown, message: RegExp][] = [
  [{ auths: { "r.example": { auth: "!!!" } } }, /^illegal base64 data at input byte 0$/],
  [{ auths: { "r.example": { auth: "YTpwQ" } } }, /^illegal base64 data at input byte 4$/],
  [{ auths: { "r.example": { auth: "YWJj" } } }, /^unable to parse auth field, must be formatted as base64/],
  [{ auths: { "r.example": { username: 1 } } }, /^username of r\.example is not a string$/],
  [{ auths: [] }, /^auths is not an object$/],
];
for (const [config, message] of malformed)
  test(`a pull with the malformed secret ${JSON.stringify(config)} fails`, async () => {
    const outcome = await setUp().run("r.example/x:1", "Always", [pullSecret(config)]);
    assert.ok(!outcome.present && outcome.reason === "ErrImagePull");
    assert.match(outcome.message, message);
  });

test("equal errors of several credentials are reported once", async () => {
  const { run, runtime } = setUp();
  runtime.faults.fail("PullImage", new Error("denied"), 2);
  const outcome = await run("r.example/x/y:1", "Always", [
    secret({ "r.example": user("a"), "r.example/x": user("b") }),
  ]);
  assert.deepEqual(outcome, {
    present: false,
    reason: "ErrImagePull",
    message: "denied",
    againMilliseconds: 3000,
  });
  assert.equal(runtime.calls.filter(({ method }) => method === "PullImage").length, 2);
});

const pulls: [name: string, serial: boolean, parallel: number | undefined, atOnce: number][] = [
  ["serialized pulls run one at a time", true, undefined, 1],
  ["parallel pulls are limited by the configured maximum", false, 3, 3],
  ["parallel pulls are unlimited without a maximum", false, undefined, Infinity],
];
for (const [name, serializeImagePulls, maxParallelImagePulls, atOnce] of pulls)
  test(name, () => {
    const rates = { registryQps: 5, registryBurst: 10 };
    assert.deepEqual(pullLimits({ serializeImagePulls, maxParallelImagePulls, ...rates }), {
      atOnce,
      perSecond: 5,
      burst: 10,
    });
  });

test("concurrency and rate of pulls are limited, and waiting pulls run in order", async () => {
  const clock = virtualClock();
  const queue = pullQueue({ clock, atOnce: 2, perSecond: 1, burst: 3 });
  const started: number[] = [];
  const pull = (id: number) => queue.run(async () => (started.push(id), clock.sleep(100)));
  const three = [1, 2, 3].map(pull);
  const rejected = assert.rejects(pull(4), PullRateExceeded);
  assert.deepEqual(started, [1, 2]);
  await clock.advance(100);
  await clock.advance(100);
  await Promise.all(three);
  await rejected;
  assert.deepEqual(started, [1, 2, 3]);
  await clock.advance(1000);
  const last = pull(5);
  await clock.advance(100);
  await last;
});

test("waiting for its turn does not count against the rate of pulls", async () => {
  const clock = virtualClock();
  const queue = pullQueue({ clock, atOnce: 1, perSecond: 5, burst: 10 });
  const pulls = Array.from({ length: 30 }, () => queue.run(() => clock.sleep(1000)));
  for (let second = 0; second < 30; second++) await clock.advance(1000);
  assert.equal((await Promise.all(pulls)).length, 30);
});

function setUp() {
  const clock = virtualClock();
  const runtime = fakeRuntime({ clock, images: ["here:1"], offered: ["there:1"] });
  const events: string[] = [];
  const puller = images({
    runtime,
    clock,
    events: { event: (_, __, reason) => void events.push(reason) },
    queue: pullQueue({ clock, atOnce: 1, perSecond: 0, burst: 0 }),
    backOff: backOff({ clock, firstMilliseconds: 10_000, longestMilliseconds: 300_000 }),
    dialect: dialects.orch,
  });
  const run = (image: string, imagePullPolicy: string, secrets: readonly Secret[] = []) =>
    puller.ensure(
      samplePod(),
      { name: "c", image, imagePullPolicy } as Container,
      secrets,
      {},
      new AbortController().signal,
    );
  const ensure = async (image: string, imagePullPolicy: string): Promise<string> => {
    const outcome = await run(image, imagePullPolicy);
    return outcome.present ? "present" : outcome.reason;
  };
  return { clock, runtime, events, ensure, run };
}
const policies: [image: string, policy: string, outcome: string, events: string[]][] = [
  ["here:1", "IfNotPresent", "present", ["Pulled"]],
  ["here:1", "Never", "present", ["Pulled"]],
  ["here:1", "Always", "present", ["Pulling", "Pulled"]],
  ["there:1", "IfNotPresent", "present", ["Pulling", "Pulled"]],
  ["there:1", "Never", "ErrImageNeverPull", ["ErrImageNeverPull"]],
  ["nowhere:1", "IfNotPresent", "ErrImagePull", ["Pulling", "Failed"]],
  ["Bad Name", "Always", "InvalidImageName", ["InspectFailed"]],
];
for (const [image, policy, outcome, events] of policies) {
  test(`${image} with ${policy}: ${outcome}`, async () => {
    const set = setUp();
    assert.equal(await set.ensure(image, policy), outcome);
    assert.deepEqual(set.events, events);
  });
}

test("a failed pull is not retried before its back-off has expired", async () => {
  const { clock, runtime, ensure } = setUp();
  const pulls = (): number => runtime.calls.filter(({ method }) => method === "PullImage").length;
  assert.equal(await ensure("nowhere:1", "Always"), "ErrImagePull");
  assert.equal(await ensure("nowhere:1", "Always"), "ImagePullBackOff");
  assert.equal(pulls(), 1);
  await clock.advance(10_001);
  assert.equal(await ensure("nowhere:1", "Always"), "ErrImagePull");
  await clock.advance(10_001);
  assert.equal(await ensure("nowhere:1", "Always"), "ImagePullBackOff");
  assert.equal(pulls(), 2);
});

test("an unreachable runtime is reported as an inspection error", async () => {
  const { runtime, ensure } = setUp();
  runtime.faults.fail("ImageStatus", new Error("down"));
  assert.equal(await ensure("here:1", "IfNotPresent"), "ImageInspectError");
});

test("an aborted pull leaves the queue at once while another one is running", async () => {
  const queue = pullQueue({ clock: virtualClock(), atOnce: 1, perSecond: 0, burst: 0 });
  const first = Promise.withResolvers<string>();
  const pulling = queue.run(() => first.promise);
  const stopped = new AbortController();
  const waiting = queue.run(() => Promise.reject(new Error("must not run")), stopped.signal);
  stopped.abort(new Error("deleted"));
  await assert.rejects(waiting, /deleted/);
  const third = queue.run(async () => "third");
  first.resolve("first");
  assert.deepEqual([await pulling, await third], ["first", "third"]);
});
