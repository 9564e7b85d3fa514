import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { isShared, makeShared } from "./shared-root.ts";

const line = (point: string, optional: string): string =>
  `36 35 98:0 / ${point} rw,noatime${optional} - ext4 /dev/sda rw`;
const cases: [name: string, lines: string[], path: string, shared: boolean][] = [
  ["a shared file system", [line("/", " shared:1")], "/var/agent", true],
  ["a private one", [line("/", "")], "/var/agent", false],
  ["a slave alone is not shared", [line("/", " master:3")], "/var/agent", false],
  ["the nearest mount counts", [line("/", " shared:1"), line("/var", "")], "/var/agent", false],
  ["the directory's own most of all", [line("/", ""), line("/var/agent", " shared:7")], "/var/agent", true],
  ["of two on one point the later", [line("/v", ""), line("/v", " shared:2")], "/v/a", true],
  ["a name that only begins alike holds nothing", [line("/", " shared:1"), line("/va", "")], "/var", true],
];
for (const [name, lines, path, shared] of cases)
  test(`mount propagation: ${name}`, () => assert.equal(isShared(lines.join("\n"), path), shared));

test("a private root directory is bound to itself and shared; a shared one is left as it is", async () => {
  for (const [optional, expected] of [
    ["", ["bind", "share"]],
    [" shared:1", []],
  ] as const) {
    const done: string[] = [];
    await makeShared(
      {
        mountInfo: async () => line("/", optional),
        bind: async () => void done.push("bind"),
        makeShared: async () => void done.push("share"),
      },
      tmpdir(),
    );
    assert.deepEqual(done, expected);
  }
});
