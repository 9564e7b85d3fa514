// How a webhook can fail: the call was broken, or the request was refused.

import { ApiError, type StatusCause } from "#base";

/** The call did not lead to a usable answer; the failure policy decides what that means. */
export class BrokenCall extends Error {
  override readonly name = "BrokenCall";
  /** The status that metrics show. */
  readonly code: number;
  constructor(webhook: string, reason: string, code: number) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`);
    this.code = code;
  }
}

/** The webhook said no. */
export class Rejection extends ApiError {}

export const internalError = (message: string): ApiError =>
  new ApiError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

/** The part of a Status that a webhook may give. */
export interface GivenStatus {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

/** A refusal as the client sees it: never with a code that would mean success. */
export function rejection(webhook: string, given: GivenStatus | undefined): Rejection {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = given?.message || given?.reason;
  const code = given?.code ?? 0;
  return new Rejection(
    code < 400 ? 400 : code,
    given?.reason ?? "",
    why ? `${denied}: ${why}` : `${denied} without explanation`,
    given?.details,
  );
}
