import assert from "node:assert/strict";
import { test } from "node:test";
import { processorMilliseconds } from "#kit";
import { pemBlocks } from "./pem.ts";

const block = (type: string, body = "AAEC"): string =>
  `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----`;

const cases: [name: string, text: string, found: [type: string, hex: string, hasHeaders?: boolean][]][] = [
  ["one block", block("CERTIFICATE"), [["CERTIFICATE", "000102"]]],
  [
    "text around blocks is skipped",
    `a\n${block("A")}\nb ${block("B C")} c`,
    [
      ["A", "000102"],
      ["B C", "000102"],
    ],
  ],
  ["carriage returns are accepted", block("A").replaceAll("\n", "\r\n"), [["A", "000102"]]],
  [
    "headers are detected",
    block("A", "Proc-Type: 4\n\nAAEC"),
    [["A", Buffer.from("Proc-Type: 4\n\nAAEC", "base64").toString("hex"), true]],
  ],
  ["an unterminated block is skipped", "-----BEGIN A-----\nAAEC\n", []],
  [
    "a block closed with another type is skipped",
    `-----BEGIN A-----\nAAEC\n-----END B-----\n${block("C")}`,
    [["C", "000102"]],
  ],
  ["a body on the boundary line is not a block", "-----BEGIN A-----AAEC-----END A-----", []],
];
for (const [name, text, found] of cases)
  test(name, () =>
    assert.deepEqual(
      pemBlocks(text).map(({ type, bytes, hasHeaders }) => [type, bytes.toString("hex"), hasHeaders]),
      found.map(([type, hex, hasHeaders = false]) => [type, hex, hasHeaders]),
    ),
  );

test("a block's text has its boundary lines", () =>
  assert.equal(pemBlocks(`x${block("A")}y`)[0]?.text, block("A")));

test("many blocks that are never closed cost linear time", async () => {
  const taken = await processorMilliseconds(() => {
    for (const text of [
      "-----BEGIN A-----\n".repeat(200_000),
      `${"-----BEGIN A-----\n".repeat(200_000)}-----END B-----`,
    ])
      assert.deepEqual(pemBlocks(text), []);
  });
  assert.ok(taken < 5000, `took ${taken} ms of processor time`);
});
