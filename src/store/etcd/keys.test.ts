import { test } from "node:test";
import assert from "node:assert/strict";
import { endOfPrefix, etcdKeys, inRange } from "./keys.ts";
import { isProgressReliable } from "./progress-proof.ts";

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("latin1");

const ends: [prefix: string, end: string][] = [
  ["a", "b"],
  ["/pods/", "/pods0"],
  ["a\xff", "b"],
  ["\xff\xff", "\0"],
  ["", "\0"],
];
for (const [prefix, end] of ends)
  test(`all keys with ${JSON.stringify(prefix)} end before ${JSON.stringify(end)}`, () =>
    assert.equal(hex(endOfPrefix(Buffer.from(prefix, "latin1"))), end));

const ranges: [
  name: string,
  prefix: string,
  range: Parameters<ReturnType<typeof etcdKeys>["range"]>[0],
  key: string,
  end: string,
][] = [
  ["one key", "/r", { key: "/a" }, "/r/a", ""],
  ["a prefix", "/r", { prefix: "/a/" }, "/r/a/", "/r/a0"],
  ["a continued prefix", "/r", { prefix: "/a/", after: "/a/x" }, "/r/a/x\0", "/r/a0"],
  ["a prefix continued from before it", "/r", { prefix: "/b/", after: "/a" }, "/r/b/", "/r/b0"],
  ["everything of ours", "/r", { prefix: "" }, "/r", "/s"],
  ["every key of the cluster", "", { prefix: "" }, "\0", "\0"],
];
for (const [name, prefix, range, key, end] of ranges) {
  test(`${name} becomes the range from ${JSON.stringify(key)} to ${JSON.stringify(end)}`, () => {
    const made = etcdKeys(prefix).range(range);
    assert.deepEqual([hex(made.key), hex(made.rangeEnd)], [key, end]);
  });
}

test("a key that is not text is compared to a range by its bytes", () => {
  const all = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) };
  assert.equal(inRange(all, Uint8Array.of(0xff, 0xfe)), true);
  const some = etcdKeys("/r").range({ prefix: "/a" });
  assert.deepEqual(
    [Buffer.from("/r/a"), Buffer.from("/r/a\xff", "latin1"), Buffer.from("/r/b"), Buffer.from("/r")].map(
      (key) => inRange(some, key),
    ),
    [true, true, false, false],
  );
});

const versions: [version: string, believed: boolean][] = [
  ["3.3.27", false],
  ["3.4.23", false],
  ["3.4.25", true],
  ["3.5.7", false],
  ["3.5.8", true],
  ["3.6.0-rc.1", true],
  ["4.0.0", true],
  ["unknown", false],
];
for (const [version, believed] of versions)
  test(`progress responses of etcd ${version} are ${believed ? "trusted" : "verified first"}`, () =>
    assert.equal(isProgressReliable(version), believed));
