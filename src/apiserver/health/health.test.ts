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
  ["all is well", well, "/healthz", 200, "ok"],
  ["each path has its own checks", unwell, "/livez", 200, "ok"],
  [
    "verbose names the checks",
    well,
    "/healthz?verbose",
    200,
    "[+]ping ok\n[+]log ok\nhealthz check passed\n",
  ],
  [
    "one failure fails the whole, and the reason stays in the log",
    unwell,
    "/healthz",
    500,
    "[+]ping ok\n[-]store failed: reason withheld\n[+]log ok\nhealthz check failed\n",
  ],
  ["a failing check can be left out", unwell, "/healthz?exclude=store", 200, "ok"],
  [
    "what is left out is told",
    unwell,
    "/healthz?exclude=store&verbose=true",
    200,
    "[+]ping ok\n[+]store excluded: ok\n[+]log ok\nhealthz check passed\n",
  ],
  [
    "a check is left out by its other name, and by both",
    unwell,
    "/healthz?exclude=disk&exclude=store&verbose",
    200,
    "[+]ping ok\n[+]store excluded: ok\n[+]log ok\nhealthz check passed\n",
  ],
  ["a check is asked for by its other name", unwell, "/healthz/disk", 500, /the disk is full/],
  ["several can be left out", unwell, "/readyz?exclude=a/b&exclude=c", 200, "ok"],
  [
    "a name is taken whole, with its commas, and be it empty",
    well,
    "/readyz?exclude=ping,log&exclude=&verbose",
    200,
    /ok\nwarn: some health checks cannot be excluded: no matches for "","ping,log"\n/,
  ],
  [
    "leaving out what is not there is a remark",
    well,
    "/readyz?exclude=none&verbose",
    200,
    /warn: some health checks cannot be excluded: no matches for "none"/,
  ],
  ["one check alone", well, "/healthz/log", 200, "ok"],
  [
    "one check alone that fails says why",
    unwell,
    "/healthz/store",
    500,
    "internal server error: the disk is full\n",
  ],
  ["a check whose name has parts", unwell, "/readyz/a/b", 500, /disk/],
  ["a check that is not there", well, "/healthz/none", undefined],
  ["a check of another path", well, "/livez/log", undefined],
  ["another path", well, "/health", undefined],
  ["a path that only begins so", well, "/healthzz", undefined],
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

test("health: whatever the method, the answer is the same", async () =>
  assert.equal((await healthReply(well, call("/healthz", "POST")))?.status, 200));

test("health: a check that fails without a word still fails", async () => {
  const reply = await healthReply({ ...well, livez: [ill("mute", "")] }, call("/livez"));
  assert.equal(reply?.status, 500);
});

test("what is found is told, check by check, of whole endpoints only", async () => {
  const found: string[] = [];
  const observer = {
    found: (endpoint: string, name: string, fine: boolean) => void found.push(`${endpoint} ${name} ${fine}`),
  };
  await healthReply(unwell, call("/healthz?exclude=log"), observer);
  await healthReply(unwell, call("/healthz/log"), observer);
  assert.deepEqual(found, ["healthz ping true", "healthz store false"]);
});

test("why an endpoint failed is for the log, not for whoever asked", async () => {
  const told: string[] = [];
  const observer = {
    found: () => undefined,
    failed: (...words: readonly unknown[]) => void told.push(words.join(" ")),
  };
  const reply = await healthReply(unwell, call("/readyz"), observer);
  assert.deepEqual(told, ["readyz a/b,c [-]a/b failed: the disk is full\n[-]c failed: the disk is full"]);
  assert.doesNotMatch(String(reply?.body), /disk/);
});
