// Detects stored bytes that are already in the cached form: they were written by this program's encoders, and
// begin with the header of the kind.
import type { Revision } from "#store";

export class StoredHeader {
  readonly #header: Buffer | undefined;
  /** Values of later revisions were written by this program's encoders. */
  since: Revision = Number.POSITIVE_INFINITY;

  /** Without a type nothing matches. */
  constructor(type: { readonly kind: string; readonly apiVersion: string } | undefined) {
    this.#header =
      type && Buffer.from(`{"kind":"${type.kind}","apiVersion":"${type.apiVersion}","metadata":{"name":`);
  }

  matches(value: Uint8Array, revision: Revision): boolean {
    const header = this.#header;
    if (!header || revision <= this.since || value.length < header.length) return false;
    return header.compare(value, 0, header.length) === 0;
  }
}
