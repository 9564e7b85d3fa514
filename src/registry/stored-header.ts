// Whether stored bytes are already in the form that is held: this program's encoders wrote them, and they begin as
// the kind does.
import type { Revision } from "#store";

export class StoredHeader {
  readonly #header: Buffer | undefined;
  /** Values of later revisions were encoded as this program encodes. */
  since: Revision = Number.POSITIVE_INFINITY;

  /** Without a type no bytes are taken as they are. */
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
