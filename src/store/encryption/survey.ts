// Counts stored values by resource and encryption provider: what is still to be rewritten before a key can be
// removed.
import type { Store } from "../store.ts";

export interface EncryptionCount {
  /** The resource in the key: `secrets`, or `example.com/widgets`. */
  readonly resource: string;
  /** `aesgcm:v1:key1`, or `none` for unencrypted values. */
  readonly provider: string;
  readonly values: number;
}

const pageSize = 500;
const providerId = /^([a-z]+:v\d+:[^:]+):/;

/** Reads every value below the prefix; the store must be the underlying one, without decryption. */
export async function surveyEncryption(
  store: Pick<Store, "read">,
  prefix: string,
  markers: readonly string[],
): Promise<readonly EncryptionCount[]> {
  const counts = new Map<string, EncryptionCount>();
  for (let after: string | undefined; ;) {
    const page = await store.read({
      prefix: `${prefix}/`,
      limit: pageSize,
      ...(after !== undefined && { after }),
    });
    for (const { key, value } of page.entries) {
      const resource = resourceOf(key.slice(prefix.length + 1));
      const provider = providerOf(value, markers);
      const id = `${resource} ${provider}`;
      counts.set(id, { resource, provider, values: (counts.get(id)?.values ?? 0) + 1 });
    }
    after = page.entries.at(-1)?.key;
    if (page.remaining === 0 || after === undefined) break;
  }
  return [...counts.values()].toSorted((one, other) =>
    `${one.resource} ${one.provider}` < `${other.resource} ${other.provider}` ? -1 : 1,
  );
}

/** Returns the resource of a key without its prefix. */
export function resourceOf(rest: string): string {
  const [first = "", second = ""] = rest.split("/", 2);
  return first.includes(".") ? `${first}/${second}` : first;
}

function providerOf(value: Uint8Array, markers: readonly string[]): string {
  const start = Buffer.from(value.subarray(0, 256)).toString("latin1");
  const marker = markers.find((each) => start.startsWith(each));
  if (marker === undefined) return "none";
  return providerId.exec(start.slice(marker.length))?.[1] ?? "unknown";
}
