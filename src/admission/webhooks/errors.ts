// Failures of a webhook: a failed call, or a refused request.

import { ApiError, type StatusCause } from "#base";

/** The call yielded no usable response; the failure policy decides about the request. */
export class FailedCall extends Error {
  override readonly name = "BrokenCall";
  /** Status code reported in metrics. */
  readonly code: number;
  constructor(webhook: string, reason: string, code: number) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`);
    this.code = code;
  }
}

/** The webhook refused the request. */
export class Rejection extends ApiError {}

export const internalError = (message: string): ApiError =>
  new ApiError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

type ListMetadata = Readonly<Record<string, unknown>>;

/** The part of a Status that a webhook may set. */
export interface GivenStatus {
  readonly metadata?: ListMetadata;
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

/** Returns the refusal that the client receives; its code is always an error code. */
export function rejection(webhook: string, given: GivenStatus | undefined): Rejection {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = given?.message || given?.reason;
  const code = given?.code ?? 0;
  const rejected = new Rejection(
    code < 400 ? 400 : code,
    given?.reason ?? "",
    why ? `${denied}: ${why}` : `${denied} without explanation`,
    given?.details,
  );
  const listMetadata = metadataOf(given?.metadata ?? {});
  return Object.keys(listMetadata).length > 0 ? Object.assign(rejected, { listMetadata }) : rejected;
}

/** The known fields of the metadata of a list, if they are set. */
const metadataOf = (given: ListMetadata): ListMetadata =>
  Object.fromEntries(
    ["selfLink", "resourceVersion", "continue", "remainingItemCount"]
      .filter((key) => key in given && given[key] !== "" && given[key] !== null)
      .map((key) => [key, given[key]]),
  );
