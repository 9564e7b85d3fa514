import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Claim, allocate, allocateScarce } from "./allocation.ts";

const claim = (target: number, lower: number, upper: number): Claim => ({ target, lower, upper });

const cases: [name: string, total: number, claims: Claim[], seats: number[] | undefined][] = [
  ["nobody needs anything: in proportion to the targets", 10, [claim(1, 0, 10), claim(1, 0, 10)], [5, 5]],
  ["who needs more borrows from who lends", 10, [claim(9, 0, 20), claim(1, 0, 5)], [9, 1]],
  ["a lower bound is kept", 10, [claim(9, 0, 20), claim(3, 3, 5)], [7, 3]],
  ["an upper bound is kept", 10, [claim(9, 0, 6), claim(1, 0, 20)], [6, 4]],
  ["bounds that leave no choice", 10, [claim(5, 5, 9), claim(5, 5, 9)], [5, 5]],
  ["lower bounds beyond the total", 10, [claim(6, 6, 9), claim(5, 5, 9)], undefined],
  ["upper bounds below the total", 10, [claim(1, 0, 4), claim(1, 0, 4)], undefined],
  ["no levels, no seats", 0, [], []],
];
for (const [name, total, claims, seats] of cases)
  test(name, () =>
    assert.deepEqual(
      allocate(total, claims)?.seats.map((each) => Math.round(each * 1000) / 1000),
      seats,
    ),
  );

test("for any claims, all seats are allocated and every bound is respected", () => {
  const anyClaim = fc
    .tuple(fc.nat(50), fc.nat(50), fc.nat(50))
    .map(([lower, more, width]) => claim(lower + more, lower, lower + width));
  fc.assert(
    fc.property(fc.array(anyClaim, { minLength: 1, maxLength: 9 }), fc.nat(400), (claims, total) => {
      const found = allocate(total, claims);
      if (!found) return;
      const sum = found.seats.reduce((before, each) => before + each, 0);
      assert.ok(Math.abs(sum - total) < 1e-6);
      found.seats.forEach((seats, index) => {
        const { lower, upper } = claims[index]!;
        assert.ok(seats >= lower - 1e-9 && seats <= upper + 1e-9);
      });
    }),
  );
});

const scarce: [
  name: string,
  remaining: number,
  least: number[],
  claims: Claim[],
  seats: number[] | undefined,
][] = [
  ["enough for all lower bounds", 9, [1, 1], [claim(4, 4, 9), claim(4, 4, 9)], undefined],
  ["half of what lower bounds need", 5, [1, 1], [claim(4, 4, 9), claim(4, 4, 9)], [3, 3]],
  ["not more than the least", 2, [1, 1], [claim(4, 4, 9), claim(4, 4, 9)], [1, 1]],
  ["nothing remains", -3, [1, 2], [claim(4, 4, 9), claim(4, 4, 9)], [1, 2]],
];
for (const [name, remaining, least, claims, seats] of scarce)
  test(`seats left by exempt levels: ${name}`, () =>
    assert.deepEqual(allocateScarce(remaining, least, claims)?.seats, seats));
