import { test } from "node:test";
import assert from "node:assert/strict";
import {
  QuantityError,
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  isWholeQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityOf,
  quantityValue,
  subtractQuantity,
} from "#base";
import fc from "fast-check";

const canonical: [from: string, to: string][] = [
  ["0", "0"], ["0Ki", "0"], ["0.0", "0"], ["-0", "0"], [".", "0"],
  ["1", "1"], ["1000", "1k"], ["1100", "1100"], ["1000000", "1M"], ["1024", "1024"],
  ["1.5", "1500m"], ["0.5", "500m"], [".5", "500m"], ["100m", "100m"], ["1000m", "1"], ["0.1m", "100u"], ["1.", "1."],
  ["1.5Gi", "1536Mi"], ["1Gi", "1Gi"], ["1024Mi", "1Gi"], ["512Ki", "512Ki"], ["8Gi", "8Gi"], ["1.1Ki", "1126400m"], ["0.5Ki", "512"], ["0.0001Ki", "102400u"],
  ["1e3", "1e3"], ["10e2", "1e3"], ["1E3", "1E3"], ["12e6", "12e6"], ["1e-3", "1e-3"], ["1.5e3", "1500"], ["1E", "1E"], ["1e-10", "1e-9"],
  ["0.0000000001", "1n"], ["0.0000000011", "2n"], ["-0.0000000001", "-1n"], ["1n", "1n"], ["1000n", "1u"],
  ["16Ei", "9223372036854775807"], ["-16Ei", "-9223372036854775807"], ["9Ei", "9223372036854775807"], ["7Ei", "7Ei"],
  ["9223372036854775807", "9223372036854775807"], ["100000000000000000000", "100E"],
  ["-1.5", "-1500m"], ["1.500", "1.500"], ["+5", "+5"], ["00100m", "00100m"], ["1.000", "1"], ["123456789Ki", "123456789Ki"],
]; // prettier-ignore
for (const [from, to] of canonical)
  test(`the quantity ${from} prints as ${to}`, () => assert.equal(canonicalQuantity(from), to));

for (const text of [
  "",
  "1.2.3",
  "x",
  "1x",
  "1 Gi",
  "1mm",
  "1Kib",
  "1e",
  "1e5.5",
  "1Zi",
  "0x10",
  "1e99999999",
])
  test(`"${text}" is no quantity`, () => assert.throws(() => parseQuantity(text), { name: "QuantityError" }));

// prettier-ignore
const value: [text: string, whole: number, milli: number][] = [["1.5", 2, 1500], ["-1.5", -2, -1500], ["1Ki", 1024, 1024000], ["1u", 1, 1], ["2e3", 2000, 2000000]];
for (const [text, whole, milli] of value)
  test(`${text} is ${whole} rounded up, and ${milli} thousandths`, () => {
    assert.equal(quantityValue(parseQuantity(text)), whole);
    assert.equal(quantityMilliValue(parseQuantity(text)), milli);
  });

test("sums keep the format of the first, unless it is zero", () => {
  const sum = (a: string, b: string) => formatQuantity(addQuantity(parseQuantity(a), parseQuantity(b)));
  assert.equal(sum("1Gi", "1000"), "1073742824");
  assert.equal(sum("0", "1Gi"), "1Gi");
  assert.equal(sum("100m", "900m"), "1");
  assert.equal(formatQuantity(subtractQuantity(parseQuantity("2Gi"), parseQuantity("1Gi"))), "1Gi");
});

test("formatted quantities parse to the same amount and format equally again", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      fc.integer({ min: -9, max: 12 }),
      fc.constantFrom("DecimalSI" as const, "BinarySI" as const, "DecimalExponent" as const),
      (amount, scale, format) => {
        const quantity = quantityOf(amount, scale, format);
        const text = formatQuantity(quantity);
        const largest = 2n ** 63n - 1n;
        if (
          format === "BinarySI" &&
          text.endsWith("i") &&
          (amount > largest || amount < -largest || scale > 0)
        )
          return;
        assert.equal(compareQuantity(parseQuantity(text), quantity), 0, text);
        // without a suffix, the family is not preserved
        if (format !== "BinarySI") assert.equal(canonicalQuantity(text), text);
      },
    ),
  );
});

const whole: [text: string, whole: boolean][] = [
  ["1", true],
  ["1500m", false],
  ["1E", true],
  ["9223372036854775807", true],
  ["99999999999999999999", false],
  ["7Ei", false],
  ["100000000000000000000k", false],
];
for (const [text, expected] of whole)
  test(`${text} is ${expected ? "" : "not "}taken for a whole number`, () =>
    assert.equal(isWholeQuantity(parseQuantity(text)), expected));

test("zeros and suffixes without digits are read as zero, digits without a suffix as digits", () => {
  for (const [text, value] of [
    ["000", 0n],
    ["0012", 12n],
    ["007.50", 750n],
  ] as const)
    assert.equal(parseQuantity(text).value, value);
  for (const text of ["1x", "1-", "--1", "1e", "1 "]) assert.throws(() => parseQuantity(text), QuantityError);
});
