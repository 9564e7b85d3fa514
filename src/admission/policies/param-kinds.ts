// Which policies found their kind of parameters. A policy that found it once keeps it until its spec changes, even if
// the kind is no longer served: operators delete a definition just before the policies that refer to it.
import type { ParamKind, ValidatingAdmissionPolicy } from "#api";

export class ParamKinds {
  readonly #isServed: (kind: ParamKind) => boolean;
  /** The generations of policies that found their kind, by UID. */
  readonly #found = new Map<string, number>();

  constructor(isServed: (kind: ParamKind) => boolean) {
    this.#isServed = isServed;
  }

  /** Returns the policies whose kind of parameters was never found. All policies are to be given each time. */
  missing(policies: readonly ValidatingAdmissionPolicy[]): ReadonlySet<ValidatingAdmissionPolicy> {
    const missing = policies.filter((policy) => !this.#hasFound(policy));
    if (this.#found.size > policies.length) this.#forgetOthers(policies);
    return new Set(missing);
  }

  #hasFound({
    metadata: { uid = "", generation = 0 },
    spec: { paramKind },
  }: ValidatingAdmissionPolicy): boolean {
    if (!paramKind || this.#found.get(uid) === generation) return true;
    if (!this.#isServed(paramKind)) return false;
    this.#found.set(uid, generation);
    return true;
  }

  #forgetOthers(policies: readonly ValidatingAdmissionPolicy[]): void {
    const uids = new Set(policies.map(({ metadata }) => metadata.uid));
    for (const uid of this.#found.keys()) if (!uids.has(uid)) this.#found.delete(uid);
  }
}
