import assert from "node:assert/strict";
import { test } from "node:test";
import { BadCredential } from "#authn";
import { createLog } from "#base";
import { apiCall } from "#kit";
import { authenticate } from "./authenticate.ts";

test("the log says why a credential was refused, the answer does not", async () => {
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
