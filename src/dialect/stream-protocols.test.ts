import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "./dialects.ts";
import { clientProtocol, runtimeProtocols } from "./stream-protocols.ts";

const cases: [name: string, offered: string, requested: string, answer: string, expected: string][] = [
  [
    "a client that speaks as runtimes do",
    "v5.channel.k8s.io, v4.channel.k8s.io",
    "v5.channel.k8s.io, v4.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.channel.k8s.io",
  ],
  [
    "a client that speaks the dialect",
    "v4.channel.orch.io,channel.orch.io",
    "v4.channel.k8s.io,channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.channel.orch.io",
  ],
  ["another protocol", "v4.channel.example.com", "v4.channel.example.com", "", ""],
];
for (const [name, offered, requested, answer, expected] of cases) {
  test(`${name} is accepted and answered in its own spelling`, () => {
    assert.equal(runtimeProtocols(dialects.orch, offered), requested);
    assert.equal(clientProtocol(dialects.orch, answer, offered), expected);
  });
}

test("nothing changes where both spellings are the same", () =>
  assert.equal(runtimeProtocols(dialects.kubernetes, "v4.channel.k8s.io"), "v4.channel.k8s.io"));
