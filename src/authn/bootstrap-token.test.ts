import assert from "node:assert/strict";
import { test } from "node:test";
import type { Secret } from "#api";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import { bootstrapTokens } from "./bootstrap-token.ts";

const dialect = dialects.orch;
const now = Date.UTC(2024, 0, 1);
const good = {
  "token-id": "abcdef",
  "token-secret": "0123456789abcdef",
  "usage-bootstrap-authentication": "true",
};
const type = dialect.names.secretTypes.bootstrapToken;

const cases: [name: string, data: Record<string, string>, more: object, groups: string[] | undefined][] = [
  ["a good token", {}, {}, ["system:bootstrappers"]],
  [
    "groups are sorted and unique",
    { "auth-extra-groups": "system:bootstrappers:z,system:bootstrappers:a,system:bootstrappers:z" },
    {},
    ["system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:z"],
  ],
  ["a group outside of bootstrappers is refused", { "auth-extra-groups": "system:masters" }, {}, undefined],
  [
    "a group with a space is refused",
    { "auth-extra-groups": "system:bootstrappers:a, system:bootstrappers:b" },
    {},
    undefined,
  ],
  ["an empty group is refused", { "auth-extra-groups": "system:bootstrappers:a," }, {}, undefined],
  [
    "the bare group as an extra one is refused",
    { "auth-extra-groups": "system:bootstrappers" },
    {},
    undefined,
  ],
  ["a wrong secret is refused", { "token-secret": "0123456789abcdee" }, {}, undefined],
  ["a wrong id is refused", { "token-id": "abcdee" }, {}, undefined],
  ["a token for another usage is refused", { "usage-bootstrap-authentication": "false" }, {}, undefined],
  ["a token that expires later", { expiration: "2024-01-01T00:00:01Z" }, {}, ["system:bootstrappers"]],
  ["an expired token is refused", { expiration: "2024-01-01T00:00:00Z" }, {}, undefined],
  ["an invalid expiration is refused", { expiration: "tomorrow" }, {}, undefined],
  ["a secret of another type is refused", {}, { type: "Opaque" }, undefined],
  [
    "a secret that is being deleted is refused",
    {},
    { metadata: { deletionTimestamp: "2024-01-01T00:00:00Z" } },
    undefined,
  ],
];
for (const [name, data, more, groups] of cases)
  test(`bootstrap tokens: ${name}`, async () => {
    const lookups: string[] = [];
    const method = bootstrapTokens({
      dialect,
      clock: virtualClock(now),
      secret: (wanted) => {
        lookups.push(wanted);
        const encoded = Object.entries({ ...good, ...data }).map(([key, value]) => [
          key,
          Buffer.from(value).toString("base64"),
        ]);
        return {
          metadata: {},
          type,
          data: Object.fromEntries(encoded) as object,
          ...more,
        } as unknown as Secret;
      },
    });
    const identity = await method.identify("abcdef.0123456789abcdef", []);
    assert.deepEqual(identity?.user, groups && { name: "system:bootstrap:abcdef", groups });
    assert.deepEqual(lookups, ["bootstrap-token-abcdef"]);
  });

for (const token of [
  "",
  "abcdef",
  "abcdef.short",
  "ABCDEF.0123456789abcdef",
  "abcdef.0123456789abcdef.x",
  "../../x.0123456789abcdef",
])
  test(`${JSON.stringify(token)} is not a bootstrap token, and no secret is looked up`, async () => {
    const method = bootstrapTokens({ dialect, clock: virtualClock(now), secret: () => assert.fail() });
    assert.equal(await method.identify(token, []), undefined);
  });
