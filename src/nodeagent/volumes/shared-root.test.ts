import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { isShared, makeShared } from "./shared-root.ts";

const line = (point: string, optional: string): string =>
  `36 35 98:0 / ${point} rw,noatime${optional} - ext4 /dev/sda rw`;
const cases: [name: string, lines: string[], path: string, shared: boolean][] = [
  ["a shared file system", [line("/", " shared:1")], "/var/agent", true],
  ["a private file system", [line("/", "")], "/var/agent", false],
  ["a slave mount is not shared", [line("/", " master:3")], "/var/agent", false],
  ["the innermost mount counts", [line("/", " shared:1"), line("/var", "")], "/var/agent", false],
  [
    "a mount of the directory itself counts",
    [line("/", ""), line("/var/agent", " shared:7")],
    "/var/agent",
    true,
  ],
  ["of two mounts on one point the later counts", [line("/v", ""), line("/v", " shared:2")], "/v/a", true],
  [
    "a path that only shares a name prefix does not count",
    [line("/", " shared:1"), line("/va", "")],
    "/var",
    true,
  ],
];
for (const [name, lines, path, shared] of cases)
  test(`mount propagation: ${name}`, () => assert.equal(isShared(lines.join("\n"), path), shared));

test("a private root directory is bound to itself and made shared; a shared one is left alone", async () => {
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
