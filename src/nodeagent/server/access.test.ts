import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { X509Certificate } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAuthority, signClient } from "#authn";
import { silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import type { Call } from "#http";
import { fakeApi } from "../fake-api.fixture.ts";
import { type AccessOptions, access } from "./access.ts";

const { orch } = dialects;
const low = { username: "low", uid: "low", groups: ["lowgroup", "system:authenticated"] };

function setUp(changes: Partial<AccessOptions> = {}) {
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  const api = fakeApi();
  const reviews: unknown[] = [];
  let isAllowed = false;
  api.answer = ({ path }, body) => {
    if (path.endsWith("/tokenreviews")) {
      const { token } = (body as { spec: { token: string } }).spec;
      return {
        status: 201,
        body: { status: token === "good" ? { authenticated: true, user: low } : { authenticated: false } },
      };
    }
    reviews.push((body as { spec: object }).spec);
    return { status: 201, body: { status: { allowed: isAllowed } } };
  };
  const options: AccessOptions = {
    clock,
    log: silentLog,
    nodeName: "n1",
    client: api.client,
    anonymous: true,
    clientCaFile: "",
    tokenReviews: true,
    tokenReviewTtl: 120_000,
    authorization: "Webhook",
    allowedTtl: 300_000,
    deniedTtl: 30_000,
    ...changes,
  };
  const guard = access(options);
  const ask = async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    certificates: readonly X509Certificate[] = [],
  ) => {
    const call = {
      method,
      path,
      search: "",
      headers,
      peer: { address: "::1", certificates: () => certificates },
    } as unknown as Call;
    const reply = await guard.refuse(call);
    return reply && `${reply.status} ${Buffer.from(reply.body as Uint8Array).toString()}`;
  };
  return { clock, api, reviews, ask, guard, allow: (on: boolean) => (isAllowed = on) };
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const attributes: [method: string, path: string, verb: string | undefined, subresource: string][] = [
  ["GET", "/healthz", "get", "proxy"],
  ["GET", "/stats/summary", "get", "stats"],
  ["GET", "/metrics/cadvisor", "get", "metrics"],
  ["GET", "/logs/x/y", "get", "log"],
  ["GET", "/statsx", "get", "proxy"],
  ["POST", "/exec/t1/logger/main", "create", "proxy"],
  ["PUT", "/debug/flags/v", "update", "proxy"],
  ["PATCH", "/pods", "patch", "proxy"],
  ["DELETE", "/pods", "delete", "proxy"],
  ["HEAD", "/pods", undefined, "proxy"],
];
for (const [method, path, verb, subresource] of attributes) {
  test(`${method} ${path} is authorized as ${verb ?? "no verb"} on nodes/${subresource}`, async () => {
    const { ask, reviews, api } = setUp();
    assert.equal(
      await ask(method, path, bearer("good")),
      `403 Forbidden (user=low, verb=${verb ?? ""}, resource=nodes, subresource=${subresource})`,
    );
    assert.deepEqual(reviews, [
      {
        resourceAttributes: {
          ...(verb && { verb }),
          version: "v1",
          resource: "nodes",
          subresource,
          name: "n1",
        },
        user: "low",
        groups: ["lowgroup", "system:authenticated"],
        uid: "low",
      },
    ]);
    assert.deepEqual(api.requests, [
      `POST /apis/authentication.${orch.wire.groupSuffix}/v1/tokenreviews`,
      `POST /apis/authorization.${orch.wire.groupSuffix}/v1/subjectaccessreviews`,
    ]);
  });
}

const who: [
  name: string,
  changes: Partial<AccessOptions>,
  headers: Record<string, string>,
  answer: string,
][] = [
  ["a bad token is rejected even if anonymous requests are allowed", {}, bearer("bad"), "401 Unauthorized"],
  [
    "another authentication scheme is ignored",
    {},
    { authorization: "Basic eDp5" },
    "403 Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource=proxy)",
  ],
  [
    "a request without credentials is anonymous",
    {},
    {},
    "403 Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource=proxy)",
  ],
  [
    "a request without credentials is rejected if anonymous requests are disabled",
    { anonymous: false },
    {},
    "401 Unauthorized",
  ],
];
for (const [name, changes, headers, answer] of who)
  test(name, async () => assert.equal(await setUp(changes).ask("GET", "/pods", headers), answer));

test("anonymous requests have the anonymous user and the unauthenticated group", async () => {
  const { ask, reviews } = setUp();
  await ask("GET", "/pods");
  const { user, groups } = reviews[0] as { user: string; groups: string[] };
  assert.deepEqual([user, groups], ["system:anonymous", ["system:unauthenticated"]]);
});

test("reviews are cached until their TTL expires", async () => {
  const { ask, api, clock, allow } = setUp();
  await ask("GET", "/pods", bearer("good"));
  await ask("GET", "/pods", bearer("good"));
  assert.equal(api.requests.length, 2);
  allow(true);
  await clock.advance(30_001);
  assert.equal(await ask("GET", "/pods", bearer("good")), undefined);
  assert.equal(api.requests.length, 3, "the denial expired, the token review did not");
  allow(false);
  await clock.advance(120_001);
  assert.equal(await ask("GET", "/pods", bearer("good")), undefined, "the permission is still cached");
  await clock.advance(200_000);
  assert.match((await ask("GET", "/pods", bearer("good")))!, /^403/);
});

test("with AlwaysAllow every authenticated user is authorized", async () => {
  const { ask, api } = setUp({ authorization: "AlwaysAllow" });
  assert.equal(await ask("POST", "/run/a/b/c"), undefined);
  assert.deepEqual(api.requests, []);
});

test("an unavailable API server is an error and grants nothing", async () => {
  const { ask, api } = setUp();
  api.answer = () => new Error("gone");
  assert.equal(await ask("GET", "/pods", bearer("good")), "401 Unauthorized");
  assert.equal(
    await ask("GET", "/pods"),
    "500 Authorization error (user=system:anonymous, verb=get, resource=nodes, subresource=proxy)",
  );
});

test("a client certificate signed by a trusted CA authenticates its user", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "access-"));
  t.after(() => rm(folder, { recursive: true }));
  const now = Date.UTC(2024, 0, 1);
  const authority = createAuthority({ commonName: "ca" }, { now, days: 10 });
  const stranger = createAuthority({ commonName: "other" }, { now, days: 10 });
  await writeFile(join(folder, "ca.crt"), authority.certificate);
  const { ask, guard, reviews } = setUp({ clientCaFile: join(folder, "ca.crt"), anonymous: false });
  t.after(() => guard.stop());
  const subject = { commonName: "kit", organizations: ["crew"] };
  const certificate = (by: typeof authority): X509Certificate[] => [
    new X509Certificate(signClient(by, subject, { now, days: 1 }).certificate),
  ];
  assert.equal(
    await ask("GET", "/pods", {}, certificate(authority)),
    "403 Forbidden (user=kit, verb=get, resource=nodes, subresource=proxy)",
  );
  assert.deepEqual((reviews[0] as { groups: string[] }).groups, ["crew", "system:authenticated"]);
  assert.equal(await ask("GET", "/pods", {}, certificate(stranger)), "401 Unauthorized");
});
