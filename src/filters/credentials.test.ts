import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "#http";
import { CallCredentials } from "./credentials.ts";

const cases: [name: string, sent: string | readonly string[], read: readonly string[]][] = [
  ["plain", "alice", ["alice"]],
  ["in UTF-8", Buffer.from("zoë").toString("latin1"), ["zoë"]],
  ["several, one of them in UTF-8", ["dev", Buffer.from("größe").toString("latin1")], ["dev", "größe"]],
  ["in an unknown encoding", "\xff", ["\ufffd"]],
];
for (const [name, sent, read] of cases)
  test(`user names in headers: ${name}`, () => {
    const call = { headers: { "impersonate-user": sent } } as unknown as Call;
    assert.deepEqual(new CallCredentials(call, "/").headers("impersonate-user"), read);
  });
