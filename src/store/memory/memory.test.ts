import { virtualClock } from "#base";
import { storeContract } from "../store.contract.ts";
import type { Store } from "../store.ts";
import { openMemory } from "./memory.ts";

const clocks = new WeakMap<Store, ReturnType<typeof virtualClock>>();

storeContract(
  "memory",
  async () => {
    const clock = virtualClock(1_700_000_000_000);
    const store = await openMemory({ clock });
    clocks.set(store, clock);
    return store;
  },
  [],
  { elapse: async (store, seconds) => clocks.get(store)!.advance(seconds * 1000) },
);
