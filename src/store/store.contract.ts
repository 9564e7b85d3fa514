// The contract of a Store: one strict suite that every backend and every decorator passes.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { expiryCases } from "./contract/expiry.contract.ts";
import type { Case, Kit } from "./contract/harness.contract.ts";
import { localCases } from "./contract/local.contract.ts";
import { modelCases } from "./contract/model.contract.ts";
import { readCases } from "./contract/reads.contract.ts";
import { watchCases } from "./contract/watches.contract.ts";
import { writeCases } from "./contract/writes.contract.ts";
import type { Store } from "./store.ts";

/** A test that a backend is known to fail, and the reason. */
export interface Gap {
  readonly test: string;
  readonly reason: string;
}

export interface ContractOptions {
  /** Advances the store's clock if it is virtual; otherwise tests wait. */
  readonly elapse?: (store: Store, seconds: number) => Promise<void>;
  /** Reuses one store for all tests, except those that close it, where opening one is slow. */
  readonly reuse?: boolean;
}

const cases: readonly Case[] = [
  ...writeCases,
  ...readCases,
  ...watchCases,
  ...expiryCases,
  ...localCases,
  ...modelCases,
];
let runs = 0;

/**
 * Runs the suite on stores from `open`, which may be empty or not. A gap whose test passes is a failure, so
 * that the list of gaps only shrinks.
 */
export function storeContract(
  name: string,
  open: () => Promise<Store>,
  gaps: readonly Gap[] = [],
  options: ContractOptions = {},
): void {
  let shared: Store | undefined;
  const closed = async (store: Store): Promise<boolean> =>
    store.status().then(
      () => false,
      () => true,
    );
  describe(`${name} satisfies the store contract`, () => {
    for (const [title, run] of cases) {
      const gap = gaps.find((one) => one.test === title);
      test(gap ? `${title} (gap: ${gap.reason})` : title, async () => {
        const store = shared ?? (await open());
        try {
          const { revision: start } = await store.status();
          const elapse = (seconds: number): Promise<void> =>
            options.elapse?.(store, seconds) ?? Promise.resolve();
          const kit: Kit = { store, prefix: `/contract/${++runs}/`, start, elapse };
          if (gap) await assert.rejects(run(kit), `"${title}" passes now: take it off the list of gaps`);
          else await run(kit);
        } finally {
          shared = options.reuse && !(await closed(store)) ? store : undefined;
          if (!shared) await store.close();
        }
      });
    }
    after(() => shared?.close());
    test("every gap names a test", () => {
      const titles = new Set(cases.map(([title]) => title));
      assert.deepEqual(
        gaps.filter((gap) => !titles.has(gap.test)),
        [],
      );
    });
  });
}
