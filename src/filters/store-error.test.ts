import assert from "node:assert/strict";
import { test } from "node:test";
import { GrpcError } from "#http";
import { KeyServiceFailed, StoreBusy, StoreClosed, StoreDamaged, StoreFull } from "#store";
import { RevisionTimeout } from "#watchcache";
import { storeErrorToStatus } from "./store-error.ts";

const late = new GrpcError("DEADLINE_EXCEEDED", "no answer within 10000 ms");
const lost = new GrpcError("UNAVAILABLE", "the connection broke");
const refused = new GrpcError("UNAVAILABLE", "nobody listens", { unprocessed: true });

const cases: [
  name: string,
  error: unknown,
  isWrite: boolean,
  code: number | undefined,
  again: number | undefined,
][] = [
  ["an unavailable key service", new KeyServiceFailed("no answer"), true, 500, undefined],
  ["a full disk", new StoreFull("/somewhere", "disk is full"), true, 500, undefined],
  ["too many writes", new StoreBusy(9), true, 429, 1],
  ["a closed store", new StoreClosed(), false, 503, undefined],
  ["a watch that lags behind", new RevisionTimeout(9, 8), true, 504, 1],
  ["a read that takes too long", late, false, 504, 1],
  ["a write that takes too long, with unknown outcome", late, true, 504, undefined],
  ["a write whose response was lost, with unknown outcome", lost, true, 504, undefined],
  ["a write that was never sent", refused, true, 503, 1],
  ["a read while the store is unreachable", refused, false, 503, 1],
  ["another error of the store", new GrpcError("INTERNAL", "odd"), false, undefined, undefined],
  ["damage", new StoreDamaged("store.db", "torn"), true, undefined, undefined],
  ["an internal error", new TypeError("undefined is not a function"), true, undefined, undefined],
];
for (const [name, error, isWrite, code, again] of cases) {
  test(`${name} is reported as ${code ?? "an unexpected error"}`, () => {
    const report = storeErrorToStatus(error, isWrite);
    assert.deepEqual([report?.code, report?.details?.retryAfterSeconds], [code, again]);
    assert.doesNotMatch(report?.message ?? "", /somewhere|10000 ms/);
  });
}
