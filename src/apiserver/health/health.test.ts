import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "#http";
import { ApiCall } from "#endpoints";
import { type HealthCheck, healthReply } from "./health.ts";

const fine = (name: string): HealthCheck => ({ name, check: () => undefined });
const ill = (name: string, reason = "the disk is full"): HealthCheck => ({
  name,
  check: async () => {
    throw new Error(reason);
  },
});
const call = (path: string, method = "GET"): ApiCall => {
  const [where, search = ""] = path.split("?") as [string, string | undefined];
  return new ApiCall({ method, path: where, search, headers: {} } as unknown as Call, "id");
};
const well = {
  healthz: [fine("ping"), fine("log")],
  livez: [fine("ping")],
  readyz: [fine("ping"), fine("shutdown")],
};
const unwell = {
  healthz: [fine("ping"), { ...ill("store"), alias: "disk" }, fine("log")],
  livez: [fine("ping")],
  readyz: [ill("a/b"), ill("c")],
};

const cases: [
  name: string,
  paths: typeof well,
  path: string,
  status: number | undefined,
  text?: RegExp | string,
][] = [
  ["all checks pass", well, "/healthz", 200, "ok"],
  ["each path has its own checks", unwell, "/livez", 200, "ok"],
  [
    "verbose names the checks",
    well,
    "/healthz?verbose",
    200,
    "[+]ping ok\n[+]log ok\nhealthz check passed\n",
  ],
  [
    "one failure fails the endpoint, and the reason is withheld",
    unwell,
    "/healthz",
    500,
    "[+]ping ok\n[-]store failed: reason withheld\n[+]log ok\nhealthz check failed\n",
  ],
  ["a failing check can be excluded", unwell, "/healthz?exclude=store", 200, "ok"],
  [
    "an excluded check is listed",
    unwell,
    "/healthz?exclude=store&verbose=true",
    200,
    "[+]ping ok\n[+]store excluded: ok\n[+]log ok\nhealthz check passed\n",
  ],
  [
    "a check is excluded by its alias, and by both names",
    unwell,
    "/healthz?exclude=disk&exclude=store&verbose",
    200,
    "[+]ping ok\n[+]store excluded: ok\n[+]log ok\nhealthz check passed\n",
  ],
  ["a check is requested by its alias", unwell, "/healthz/disk", 500, /the disk is full/],
  ["several checks can be excluded", unwell, "/readyz?exclude=a/b&exclude=c", 200, "ok"],
  [
    "an excluded name may contain commas or be empty",
    well,
    "/readyz?exclude=ping,log&exclude=&verbose",
    200,
    /ok\nwarn: some health checks cannot be excluded: no matches for "","ping,log"\n/,
  ],
  [
    "excluding an unknown check is a warning",
    well,
    "/readyz?exclude=none&verbose",
    200,
    /warn: some health checks cannot be excluded: no matches for "none"/,
  ],
  ["a single check", well, "/healthz/log", 200, "ok"],
  [
    "a single failing check reports the reason",
    unwell,
    "/healthz/store",
    500,
    "internal server error: the disk is full\n",
  ],
  ["a check whose name contains a slash", unwell, "/readyz/a/b", 500, /disk/],
  ["an unknown check", well, "/healthz/none", undefined],
  ["a check of another path", well, "/livez/log", undefined],
  ["another path", well, "/health", undefined],
  ["a path with the same prefix", well, "/healthzz", undefined],
];
for (const [name, paths, path, status, text] of cases) {
  test(`health: ${name}`, async () => {
    const reply = await healthReply(paths, call(path));
    assert.equal(reply?.status, status);
    if (!reply) return;
    const said = Buffer.from(reply.body as Uint8Array).toString();
    if (typeof text === "string") assert.equal(said, text);
    else assert.match(said, text!);
    assert.match(String(reply.headers["content-type"]), /^text\/plain/);
  });
}

test("health: the method does not matter", async () =>
  assert.equal((await healthReply(well, call("/healthz", "POST")))?.status, 200));

test("health: a check that fails with an empty message still fails", async () => {
  const reply = await healthReply({ ...well, livez: [ill("mute", "")] }, call("/livez"));
  assert.equal(reply?.status, 500);
});

test("results are observed per check, for whole endpoints only", async () => {
  const found: string[] = [];
  const observer = {
    found: (endpoint: string, name: string, fine: boolean) => void found.push(`${endpoint} ${name} ${fine}`),
  };
  await healthReply(unwell, call("/healthz?exclude=log"), observer);
  await healthReply(unwell, call("/healthz/log"), observer);
  assert.deepEqual(found, ["healthz ping true", "healthz store false"]);
});

test("the reason of a failure is logged, not returned to the client", async () => {
  const told: string[] = [];
  const observer = {
    found: () => undefined,
    failed: (...words: readonly unknown[]) => void told.push(words.join(" ")),
  };
  const reply = await healthReply(unwell, call("/readyz"), observer);
  assert.deepEqual(told, ["readyz a/b,c [-]a/b failed: the disk is full\n[-]c failed: the disk is full"]);
  assert.doesNotMatch(String(reply?.body), /disk/);
});
