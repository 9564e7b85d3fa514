import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "#http";
import { ApiCall } from "#endpoints";
import { type HealthCheck, healthReply } from "./health.ts";

const passingCheck = (name: string): HealthCheck => ({ name, check: () => undefined });
const failingCheck = (name: string, reason = "the disk is full"): HealthCheck => ({
  name,
  check: async () => {
    throw new Error(reason);
  },
});
const call = (path: string, method = "GET"): ApiCall => {
  const [where, search = ""] = path.split("?") as [string, string | undefined];
  return new ApiCall({ method, path: where, search, headers: {} } as unknown as Call, "id");
};
const healthy = {
  healthz: [passingCheck("ping"), passingCheck("log")],
  livez: [passingCheck("ping")],
  readyz: [passingCheck("ping"), passingCheck("shutdown")],
};
const unhealthy = {
  healthz: [passingCheck("ping"), { ...failingCheck("store"), alias: "disk" }, passingCheck("log")],
  livez: [passingCheck("ping")],
  readyz: [failingCheck("a/b"), failingCheck("c")],
};

const cases: [
  name: string,
  paths: typeof healthy,
  path: string,
  status: number | undefined,
  text?: RegExp | string,
][] = [
  ["all checks pass", healthy, "/healthz", 200, "ok"],
  ["each path has its own checks", unhealthy, "/livez", 200, "ok"],
  [
    "verbose names the checks",
    healthy,
    "/healthz?verbose",
    200,
    "[+]ping ok\n[+]log ok\nhealthz check passed\n",
  ],
  [
    "one failure fails the endpoint, and the reason is withheld",
    unhealthy,
    "/healthz",
    500,
    "[+]ping ok\n[-]store failed: reason withheld\n[+]log ok\nhealthz check failed\n",
  ],
  ["a failing check can be excluded", unhealthy, "/healthz?exclude=store", 200, "ok"],
  [
    "an excluded check is listed",
    unhealthy,
    "/healthz?exclude=store&verbose=true",
    200,
    "[+]ping ok\n[+]store excluded: ok\n[+]log ok\nhealthz check passed\n",
  ],
  [
    "a check is excluded by its alias, and by both names",
    unhealthy,
    "/healthz?exclude=disk&exclude=store&verbose",
    200,
    "[+]ping ok\n[+]store excluded: ok\n[+]log ok\nhealthz check passed\n",
  ],
  ["a check is requested by its alias", unhealthy, "/healthz/disk", 500, /the disk is full/],
  ["several checks can be excluded", unhealthy, "/readyz?exclude=a/b&exclude=c", 200, "ok"],
  [
    "an excluded name may contain commas or be empty",
    healthy,
    "/readyz?exclude=ping,log&exclude=&verbose",
    200,
    /ok\nwarn: some health checks cannot be excluded: no matches for "","ping,log"\n/,
  ],
  [
    "excluding an unknown check is a warning",
    healthy,
    "/readyz?exclude=none&verbose",
    200,
    /warn: some health checks cannot be excluded: no matches for "none"/,
  ],
  ["a single check", healthy, "/healthz/log", 200, "ok"],
  [
    "a single failing check reports the reason",
    unhealthy,
    "/healthz/store",
    500,
    "internal server error: the disk is full\n",
  ],
  ["a check whose name contains a slash", unhealthy, "/readyz/a/b", 500, /disk/],
  ["an unknown check", healthy, "/healthz/none", undefined],
  ["a check of another path", healthy, "/livez/log", undefined],
  ["another path", healthy, "/health", undefined],
  ["a path with the same prefix", healthy, "/healthzz", undefined],
];
for (const [name, paths, path, status, text] of cases) {
  test(`health: ${name}`, async () => {
    const reply = await healthReply(paths, call(path));
    assert.equal(reply?.status, status);
    if (!reply) return;
    const body = Buffer.from(reply.body as Uint8Array).toString();
    if (typeof text === "string") assert.equal(body, text);
    else assert.match(body, text!);
    assert.match(String(reply.headers["content-type"]), /^text\/plain/);
  });
}

test("health: the method does not matter", async () =>
  assert.equal((await healthReply(healthy, call("/healthz", "POST")))?.status, 200));

test("health: a check that fails with an empty message still fails", async () => {
  const reply = await healthReply({ ...healthy, livez: [failingCheck("mute", "")] }, call("/livez"));
  assert.equal(reply?.status, 500);
});

test("results are observed per check, for whole endpoints only", async () => {
  const found: string[] = [];
  const observer = {
    checked: (endpoint: string, name: string, fine: boolean) =>
      void found.push(`${endpoint} ${name} ${fine}`),
  };
  await healthReply(unhealthy, call("/healthz?exclude=log"), observer);
  await healthReply(unhealthy, call("/healthz/log"), observer);
  assert.deepEqual(found, ["healthz ping true", "healthz store false"]);
});

test("the reason of a failure is logged, not returned to the client", async () => {
  const messages: string[] = [];
  const observer = {
    checked: () => undefined,
    failed: (...words: readonly unknown[]) => void messages.push(words.join(" ")),
  };
  const reply = await healthReply(unhealthy, call("/readyz"), observer);
  assert.deepEqual(messages, ["readyz a/b,c [-]a/b failed: the disk is full\n[-]c failed: the disk is full"]);
  assert.doesNotMatch(String(reply?.body), /disk/);
});
