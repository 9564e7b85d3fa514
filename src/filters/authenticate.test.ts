import assert from "node:assert/strict";
import { test } from "node:test";
import { BadCredential } from "#authn";
import { createLog } from "#base";
import { apiCall } from "#kit";
import { authenticate } from "./authenticate.ts";

test("the reason for rejecting a credential is logged, but not sent to the client", async () => {
  const lines: string[] = [];
  const log = createLog({
    verbosity: 0,
    sink: { write: (line) => void lines.push(String(line)), flush: () => undefined },
  });
  const authenticator = {
    authenticate: () => Promise.reject(new BadCredential("[invalid bearer token, oidc: email not verified]")),
  };
  const filter = authenticate(authenticator, () => assert.fail("no method failed"), log);
  await assert.rejects(
    async () => await filter.run(apiCall({ path: "/api" }), () => assert.fail("it goes no further")),
    { message: "Unauthorized" },
  );
  assert.equal(lines.length, 1);
  assert.match(
    lines[0]!,
    /^E.*"Unable to authenticate the request" err="\[invalid bearer token, oidc: email not verified\]"/,
  );
});

const users: [name: string, groups: readonly string[] | undefined, isUnknown: boolean][] = [
  ["system:anonymous", ["system:unauthenticated"], true],
  ["zed", ["system:unauthenticated"], true],
  ["zed", ["system:authenticated"], false],
  ["nobody", undefined, true],
];
for (const [name, groups, isUnknown] of users)
  test(`${name} of ${groups?.join() ?? "no credentials"} is ${isUnknown ? "un" : ""}known`, async () => {
    let reports = 0;
    const filter = authenticate(
      { authenticate: () => (groups ? { user: { name, groups } } : undefined) },
      () => assert.fail("no method failed"),
      createLog(),
      { unauthenticated: () => reports++ },
    );
    const run = async () =>
      await filter.run(apiCall({ path: "/api" }), async () => ({ status: 200, headers: {} }));
    if (groups) await run();
    else await assert.rejects(run, { message: "Unauthorized" });
    assert.equal(reports, isUnknown ? 1 : 0);
  });
