// Whether stored bytes are already in the form that is held: they begin as this program encodes the kind, and the
// first ones that did were no different once decoded and encoded again.

/** How many values are compared before the others are taken as they are: an earlier release may encode otherwise. */
const proofs = 3;

export class StoredHeader {
  readonly #header: Buffer | undefined;
  #left = proofs;
  #failed = false;

  /** Without a type no bytes are taken as they are. */
  constructor(type: { readonly kind: string; readonly apiVersion: string } | undefined) {
    this.#header =
      type && Buffer.from(`{"kind":"${type.kind}","apiVersion":"${type.apiVersion}","metadata":{"name":`);
  }

  matches(value: Uint8Array): boolean {
    const header = this.#header;
    if (!header || this.#failed || value.length < header.length) return false;
    return header.compare(value, 0, header.length) === 0;
  }

  get proven(): boolean {
    return this.#left === 0;
  }

  /** Tells whether a value that matched is the same once it was decoded and encoded again. */
  prove(same: boolean): void {
    if (same) this.#left--;
    else this.#failed = true;
  }
}
