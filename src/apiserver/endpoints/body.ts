// From the bytes of a request to an object in the stored shape, as strict as the client asked.
import { ApiError, badRequest, tooLarge, unsupportedMediaType } from "#base";
import type { Dialect } from "#dialect";
import { BodyCutShort, BodyTooLarge, header } from "#http";
import type { ApiObject, Endpoint } from "#registry";
import { DecodeError, type Message, decodeEnvelope, decodeJson, decodeYaml, protobufCodec } from "#schema";
import type { ApiCall } from "../api-call.ts";
import { type Media, bodyMedia } from "../represent/negotiate.ts";
import { type WriteOptions, writeOptions } from "./options.ts";

export const largestBody = 3 * 1024 * 1024;

export async function readBody(call: ApiCall): Promise<Uint8Array> {
  const encoding = header(call.call.headers, "content-encoding");
  if (encoding && encoding !== "identity") throw unsupportedMediaType(`the body of the request is encoded as ${encoding.slice(0, 64)}; send it as it is`);
  try {
    const bytes = await call.call.body(largestBody);
    call.afterBody?.();
    return bytes;
  } catch (error) {
    if (error instanceof BodyTooLarge) throw tooLarge(`Request entity too large: limit is ${error.limitBytes}`);
    if (error instanceof BodyCutShort) throw badRequest(error.message);
    throw error;
  }
}

export interface DecodedBody {
  readonly value: ApiObject;
  /** What the client should not have sent, as sentences. */
  readonly strict: readonly string[];
}

/** Decodes one object of the endpoint's kind; kind and apiVersion may be left out but must not be others. An apiVersion of "*" takes any. */
export function decodeObject(bytes: Uint8Array, media: Media, schema: Message, expected: { readonly apiVersion: string; readonly kind: string }, dialect: Dialect): DecodedBody {
  try {
    const decoded =
      media === "protobuf" ? fromProtobuf(bytes, schema, dialect) : ((media === "yaml" ? decodeYaml(schema, bytes) : decodeJson(schema, bytes)) as unknown as DecodedBody);
    const { value } = decoded;
    if ((value.apiVersion && expected.apiVersion !== "*" && value.apiVersion !== expected.apiVersion) || (value.kind && value.kind !== expected.kind)) {
      throw badRequest(
        `${value.kind || expected.kind} in version "${value.apiVersion || expected.apiVersion}" cannot be handled as a ${expected.kind} in version "${expected.apiVersion}": the object provided is unrecognized`,
      );
    }
    value.apiVersion = expected.apiVersion;
    value.kind = expected.kind;
    return decoded;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badRequest(`${expected.kind} in version "${expected.apiVersion}" cannot be handled as a ${expected.kind}: ${(error as Error).message}`);
  }
}

function fromProtobuf(bytes: Uint8Array, schema: Message, dialect: Dialect): DecodedBody {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes, dialect.wire.protobufMagic);
  const value = protobufCodec(schema).decode(raw) as unknown as ApiObject;
  refuseBytes(value);
  return { value: { ...value, apiVersion, kind }, strict: [] };
}

/** Objects embedded in others must be JSON: as bytes of another form they could be shown to nobody. */
function refuseBytes(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (value instanceof Uint8Array) throw new Error("an embedded object is not JSON");
  for (const inner of Object.values(value)) refuseBytes(inner);
}

/** Applies what the client chose for fields it should not have sent: silence, a warning, or refusal. */
export function judgeStrictness(call: ApiCall, decoded: DecodedBody, mode: WriteOptions["fieldValidation"], kind: string): void {
  const { strict } = decoded;
  if (mode === "Ignore" || strict.length === 0) return;
  if (mode === "Strict") throw badRequest(`${kind} in version "${decoded.value.apiVersion}" cannot be handled as a ${kind}: strict decoding error: ${strict.join(", ")}`);
  for (const text of strict) call.warn(text);
}

interface Sent {
  readonly object: ApiObject;
  readonly options: WriteOptions;
}

/** The object a create or replace request carries, in the endpoint's own version. What is wrong is said in the order clients know: creation names the media type first. */
export async function objectFromBody(call: ApiCall, endpoint: Endpoint, kind: "CreateOptions" | "UpdateOptions"): Promise<Sent> {
  const { dialect } = endpoint.resource;
  if (kind === "CreateOptions") bodyMedia(call.call, dialect);
  const bytes = await readBody(call);
  const options = writeOptions(call, dialect, kind);
  const decoded = decodeObject(bytes, bodyMedia(call.call, dialect), endpoint.schema, endpoint, dialect);
  judgeStrictness(call, decoded, options.fieldValidation, endpoint.kind);
  return { object: decoded.value, options };
}

export { DecodeError };
