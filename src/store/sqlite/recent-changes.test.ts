import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change, Revision } from "../store.ts";
import { RecentChanges } from "./recent-changes.ts";

const budget = 10_000;
const valueOf = (revision: Revision): Buffer => Buffer.alloc(501 + (revision % 7), `${revision} `);
const changeOf = (revision: Revision): Change => ({
  key: `/${revision}`,
  revision,
  created: revision,
  value: revision % 5 === 0 ? null : valueOf(revision),
});

test("the changes within the budget are returned as they were pushed", () => {
  const recent = new RecentChanges(budget);
  let revision = 0;
  for (let batch = 0; batch < 200; batch++) {
    const changes = Array.from({ length: 1 + (batch % 4) }, () => changeOf(++revision));
    recent.push(changes);
    const { first } = recent;
    assert.ok(first !== undefined && revision - first >= Math.min(8, revision - 1));
    assert.equal(recent.get(first - 1), undefined);
    for (let at = first; at <= revision; at++) {
      const { key, created, value } = recent.get(at)!;
      assert.deepEqual({ key, created }, { key: `/${at}`, created: at });
      assert.ok(at % 5 === 0 ? value === null : valueOf(at).equals(value!), `the value of ${at}`);
    }
  }
});

test("a change is the same object until the next batch, and its value is a copy afterwards", () => {
  const recent = new RecentChanges(budget);
  const one = changeOf(1);
  recent.push([one]);
  assert.equal(recent.get(1), one);
  recent.push([changeOf(2)]);
  const copy = recent.get(1)!.value!;
  assert.notEqual(copy, one.value);
  for (let revision = 3; revision < 100; revision++) recent.push([changeOf(revision)]);
  assert.ok(valueOf(1).equals(copy));
});

test("the previous entry of a change is kept", () => {
  const recent = new RecentChanges(budget);
  const previous = { key: "/2", value: valueOf(1), revision: 1, created: 1 };
  recent.push([{ ...changeOf(2), created: 1, previous }]);
  recent.push([changeOf(3)]);
  assert.equal(recent.get(2)!.previous, previous);
});

test("a value larger than the budget is not kept", () => {
  const recent = new RecentChanges(budget);
  recent.push([{ ...changeOf(1), value: Buffer.alloc(budget) }]);
  assert.equal(recent.first, undefined);
  recent.push([changeOf(2)]);
  assert.equal(recent.get(2)!.revision, 2);
});
