import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import { legacyServiceAccountTokens } from "./service-account.ts";
import { signingKeyOf, verificationKeysOf } from "./service-account-keys.ts";
import { issueLegacyToken } from "./service-account-token.ts";

const dialect = dialects.orch;
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

test("a token in a secret that is marked as invalid is refused where the cleaner is enabled", async () => {
  const account = { name: "robot", uid: "u1" };
  const contents = { namespace: "ns", account, secret: "old" };
  const token = await issueLegacyToken({ key: signingKeyOf(pem, "key"), dialect }, contents);
  const used: string[] = [];
  const methodFor = (labels: Record<string, string>, refusesMarked: boolean) =>
    legacyServiceAccountTokens({
      keys: verificationKeysOf(pem, "key"),
      audiences: ["here"],
      objects: {
        serviceAccount: () => ({ metadata: { uid: "u1" } }),
        pod: () => undefined,
        node: () => undefined,
        secret: () => ({
          metadata: { uid: "s1", labels },
          data: { token: Buffer.from(token).toString("base64") },
        }),
      },
      clock: virtualClock(Date.UTC(2027, 0, 1)),
      dialect,
      lookup: true,
      refusesMarked,
      onUse: (_namespace, secret) => used.push(secret),
    });
  const marked = { "orch.io/legacy-token-invalid-since": "2026-12-01" };
  assert.ok(await methodFor({}, true).identify(token, []));
  assert.ok(await methodFor(marked, false).identify(token, []));
  await assert.rejects(
    async () => methodFor(marked, true).identify(token, []),
    /has been marked invalid\. Use tokens from the TokenRequest API/,
  );
  assert.deepEqual(used, ["old", "old", "old"]);
});
