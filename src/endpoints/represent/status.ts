// Status objects: the body of every response that is not an object, and the only place where errors become
// bodies.
import { ApiError } from "#base";
import type { Dialect } from "#dialect";
import type { Reply } from "#http";
import { Status } from "#api";
import { encodeEnvelope, printYaml, protobufCodec } from "#schema";
import { type Choice, contentType } from "./negotiate.ts";

export function statusObject(error: unknown): Record<string, unknown> {
  const known =
    error instanceof ApiError
      ? error
      : new ApiError(500, "InternalError", "Internal error occurred", undefined);
  const listMetadata = (known as { listMetadata?: object }).listMetadata ?? {};
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: listMetadata,
    status: "Failure",
    message: known.message,
    ...(known.reason && { reason: known.reason }),
    ...(known.details && { details: ordered(known.details) }),
    code: known.code,
  };
}

const ordered = ({
  name,
  group,
  kind,
  uid,
  causes,
  retryAfterSeconds,
}: NonNullable<ApiError["details"]>): Record<string, unknown> => ({
  ...(name && { name }),
  ...(group && { group }),
  ...(kind && { kind }),
  ...(uid && { uid }),
  ...(causes?.length && { causes }),
  ...(retryAfterSeconds && { retryAfterSeconds }),
});

export const successStatus = (details: Record<string, unknown> | undefined): Record<string, unknown> => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  ...(details && { details }),
});

export function statusReply(
  code: number,
  status: Record<string, unknown>,
  choice: Choice,
  dialect: Dialect,
): Reply {
  return {
    status: code,
    headers: { "content-type": contentType(choice.media, dialect) },
    body: plainBody(status, choice, dialect),
  };
}

/** Encodes a small object that is not stored in the client's media type. */
export function plainBody(
  object: Record<string, unknown>,
  { media, pretty }: Choice,
  dialect: Dialect,
): Uint8Array {
  if (media === "yaml") return Buffer.from(printYaml(object));
  if (media === "protobuf" && object["kind"] === "Status")
    return encodeEnvelope(
      { apiVersion: "v1", kind: "Status" },
      protobufCodec(Status).encode(object as never),
      dialect.wire.protobufMagic,
    );
  return Buffer.from(pretty ? JSON.stringify(object, undefined, 2) : `${JSON.stringify(object)}\n`);
}
