import assert from "node:assert/strict";
import { test } from "node:test";
import { addressWarnings, blockWarnings } from "./address-warnings.ts";

const quoted = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => [...text.matchAll(/"([^"]*)"/g)].map((match) => match[1]!));

const addresses: [address: string, quotes: string[]][] = [
  ["1.2.3.4", []],
  ["::1", []],
  ["01.2.3.4", ["01.2.3.4"]],
  ["nonsense", ["nonsense"]],
  ["1.2.3", ["1.2.3"]],
  ["a.b/c", ["a.b/c", "a.b/c"]],
  ["1.2.x", ["1.2.x", "x"]],
  ["1..2", ["1..2", ".2"]],
  ["0:0::1", ["0:0::1", "::1"]],
];
for (const [address, quotes] of addresses)
  test(`warnings about the address "${address}" quote ${JSON.stringify(quotes)}`, () =>
    assert.deepEqual(quoted(addressWarnings(address, "f")), quotes));

test("warnings about CIDRs quote the CIDR and the problem", () => {
  assert.deepEqual(quoted(blockWarnings("10.0.0.0/8", "f")), []);
  assert.deepEqual(quoted(blockWarnings("010.0.0.0/8", "f")), ["010.0.0.0/8", "010.0.0.0"]);
});
