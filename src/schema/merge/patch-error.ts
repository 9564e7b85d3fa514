// A patch error by HTTP status: malformed (400), too large (413), or not applicable (422).

export type PatchFault = "malformed" | "tooLarge" | "doesNotApply";

const codes = { malformed: 400, tooLarge: 413, doesNotApply: 422 } as const;

export class PatchError extends Error {
  override readonly name = "PatchError";
  readonly fault: PatchFault;

  constructor(fault: PatchFault, message: string) {
    super(message);
    this.fault = fault;
  }

  /** The HTTP status of the response. */
  get code(): 400 | 413 | 422 {
    return codes[this.fault];
  }
}

export const malformed = (message: string): PatchError => new PatchError("malformed", message);
export const doesNotApply = (message: string): PatchError => new PatchError("doesNotApply", message);
