// Records since which revision the values of a store are encoded by this build; those are served as stored.
// Another release may encode differently or apply other defaults, so its values are decoded first.
import type { Revision, Store } from "#store";

const name = "encoding";

interface Encoding {
  readonly program: string;
  readonly since: Revision;
}

/**
 * Returns the revision after which all values were written by `program`; infinite for stores that cannot keep
 * local state.
 */
export async function encodedSince(store: Store, program: string): Promise<Revision> {
  const { derived } = store;
  if (!derived) return Number.POSITIVE_INFINITY;
  const [saved] = derived.read(name);
  const known = saved && (JSON.parse(Buffer.from(saved.bytes).toString()) as Encoding);
  if (known?.program === program) return known.since;
  const since = await store.progress();
  const encoding: Encoding = { program, since };
  await derived.write(name, 1, Buffer.from(JSON.stringify(encoding)));
  return since;
}
