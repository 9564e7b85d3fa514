import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, Secret, ServiceAccount } from "#api";
import { virtualClock } from "#base";
import { type AnyObject, kinds } from "#client";
import { dialects } from "#dialect";
import { eventually } from "#kit";
import { withController } from "./cluster.fixture.ts";
import { type TokenFacts, decide, legacyTokenCleaner } from "./legacy-tokens.ts";

const dialect = dialects.orch;
const day = 86_400_000;
const now = Date.UTC(2027, 5, 1, 12);
const account = {
  metadata: { name: "robot", namespace: "n", uid: "u1" },
  secrets: [{ name: "token" }],
} as unknown as ServiceAccount;
const secret = (labels: Record<string, string> = {}, more: object = {}): Secret & AnyObject =>
  ({
    type: "orch.io/service-account-token",
    metadata: {
      name: "token",
      namespace: "n",
      creationTimestamp: "2025-01-01T00:00:00Z",
      annotations: { "orch.io/service-account.name": "robot", "orch.io/service-account.uid": "u1" },
      labels,
      ...more,
    },
  }) as unknown as Secret & AnyObject;
const lastUsed = (date: string) => ({ "orch.io/legacy-token-last-used": date });
const invalidSince = (date: string) => ({ "orch.io/legacy-token-invalid-since": date });
const pod = {
  metadata: { name: "p" },
  spec: { volumes: [{ name: "v", secret: { secretName: "token" } }] },
} as unknown as Pod;

const cases: [
  name: string,
  secret: Secret & AnyObject,
  action: "mark" | "remove" | undefined,
  facts?: Partial<TokenFacts>,
][] = [
  ["never used", secret(), "mark"],
  ["used long ago", secret(lastUsed("2026-05-31")), "mark"],
  ["used on the first day of the period", secret(lastUsed("2026-06-01")), undefined],
  ["used on an unknown day", secret(lastUsed("soon")), undefined],
  ["new", secret({}, { creationTimestamp: "2026-06-01T12:00:00Z" }), undefined],
  ["being deleted", secret({}, { deletionTimestamp: "2027-05-31T00:00:00Z" }), undefined],
  ["of another type", { ...secret(), type: "Opaque" }, undefined],
  ["marked lately", secret(invalidSince("2026-06-01")), undefined],
  ["marked long ago", secret(invalidSince("2026-05-31")), "remove"],
  ["marked with an unknown day", secret(invalidSince("x")), "mark"],
  [
    "marked long ago and used lately",
    secret({ ...invalidSince("2026-01-01"), ...lastUsed("2027-05-01") }),
    undefined,
  ],
  ["of a pod", secret(), undefined, { podsIn: () => [pod] }],
  ["of a missing account", secret(), undefined, { account: () => undefined }],
  [
    "of a recreated account",
    secret(),
    undefined,
    { account: () => ({ ...account, metadata: { ...account.metadata, uid: "u2" } }) },
  ],
  ["created by hand", secret(), undefined, { account: () => ({ ...account, secrets: [] }) }],
];
for (const [name, given, action, facts] of cases)
  test(`a token that is ${name} is ${action === undefined ? "kept" : action === "mark" ? "marked" : "deleted"}`, () => {
    const found = decide({
      secrets: [given],
      account: () => account,
      podsIn: () => [],
      dialect,
      now,
      periodMilliseconds: 365 * day,
      ...facts,
    });
    assert.deepEqual(
      [found.mark.length, found.remove.length],
      [action === "mark" ? 1 : 0, action === "remove" ? 1 : 0],
    );
  });

test("unused tokens are marked and deleted once uses have been recorded for long enough", () =>
  withController(
    (context) => legacyTokenCleaner(context, 365 * day),
    async ({ client }) => {
      const at = { namespace: "default" };
      const [accounts, secrets] = [client.of(kinds.serviceAccounts), client.of(kinds.secrets)];
      const names = ["fresh", "marked"];
      const { metadata } = await accounts.create({
        metadata: { name: "robot", ...at },
        secrets: names.map((name) => ({ name })),
      });
      const create = (name: string, labels: Record<string, string>) =>
        secrets.create({
          metadata: {
            name,
            ...at,
            labels,
            annotations: {
              "orch.io/service-account.name": "robot",
              "orch.io/service-account.uid": metadata.uid!,
            },
          },
          type: "orch.io/service-account-token",
        });
      await create("fresh", {});
      await create("marked", invalidSince("2020-01-01"));
      // The cleaner runs once a day.
      await eventually(
        async () => {
          await clock.advance(day);
          const { items } = await secrets.list(at);
          const [only] = items;
          const mark = only?.metadata.labels?.["orch.io/legacy-token-invalid-since"];
          return items.length === 1 && only?.metadata.name === "fresh" && mark !== undefined;
        },
        { clock },
      );
    },
    clock,
  ));
const clock = virtualClock(Date.now() + 400 * day);
