// Since when the values of a store are encoded as this program encodes them: those are served as they are stored.
// Another release may encode otherwise, or fill in other defaults, so what it wrote is decoded.
import type { Revision, Store } from "#store";

const name = "encoding";

interface Encoding {
  readonly program: string;
  readonly since: Revision;
}

/** The revision behind which all values were written by `program`. Only stores of this machine remember it. */
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
