import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLabelSelector, selector } from "#base";
import { openMemory } from "#store";
import type { CachedObject } from "./cached-object.ts";
import { pageFromStore, pageOf } from "./page.ts";

const total = 200_000;
const items = {
  scan: (_prefix: string, _after: string | undefined, visit: (item: CachedObject) => boolean | void): void => {
    for (let i = 0; i < total; i++) if (visit({ key: `p/${i}`, labels: {}, fields: {} } as CachedObject) === false) return;
  },
  count: () => total,
}; // prettier-ignore

/** A selector that counts its evaluations and aborts the call after some time. */
function counting(abort: AbortController) {
  const plain = selector(parseLabelSelector("app=web"), []);
  const counted = { evaluations: 0 };
  return {
    counted,
    selector: {
      ...plain,
      matches: (): boolean => {
        if (++counted.evaluations === 1000) abort.abort(new Error("the client has gone"));
        return false;
      },
    },
  };
}

test("a list of many objects is aborted when its caller disconnects", async () => {
  const abort = new AbortController();
  const { counted, selector: selects } = counting(abort);
  await assert.rejects(
    pageOf(items, "p/", { below: "", selector: selects, caller: abort }, 1),
    /the client has gone/,
  );
  assert.ok(counted.evaluations < total);
});

test("a list from the store is aborted between two reads when its caller disconnects", async () => {
  const store = await openMemory();
  for (let i = 0; i < 3000; i++)
    await store.write({ key: `p/${i}`, value: Buffer.from("{}"), expect: "absent" });
  const abort = new AbortController();
  const { counted, selector: selects } = counting(abort);
  const read = ({ key }: { readonly key: string }) => ({ key, labels: {}, fields: {} }) as CachedObject;
  await assert.rejects(
    pageFromStore(store, "p/", read, { below: "", selector: selects, caller: abort }),
    /the client has gone/,
  );
  assert.equal(counted.evaluations, 1000);
  await store.close();
});
