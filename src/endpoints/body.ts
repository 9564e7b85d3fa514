// Decodes request bodies to objects in the stored shape, with the requested strictness.
import { ApiError, TimeSlice, badRequest, invalid, invalidValue, tooLarge } from "#base";
import type { Dialect } from "#dialect";
import { IncompleteBody, BodyTooLarge } from "#http";
import { type ApiObject, type Endpoint, isLarge } from "#registry";
import {
  DecodeError,
  JsonSyntaxError,
  type Message,
  ParsedDocument,
  TooManyFields,
  YamlError,
  decodeEnvelope,
  decodeJson,
  decodeYaml,
  strictMessage,
  protobufCodec,
  yamlToJson,
} from "#schema";
import type { ApiCall } from "./api-call.ts";
import { type Media, bodyMedia } from "./represent/negotiate.ts";
import { limitValues, maxFields } from "./body-values.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { typeMismatch } from "./type-mismatch.ts";

export const maxBodyBytes = 3 * 1024 * 1024;

/** Reads the body of a request for an object. A Content-Encoding is ignored, as by kube-apiserver. */
export async function readBody(call: ApiCall): Promise<Uint8Array> {
  const bytes = await readAnyBody(call);
  const counting = isLarge(bytes.length) ? new TimeSlice() : undefined;
  const limited = limitValues(bytes);
  if (counting?.expired) await counting.yield();
  return limited;
}

/** Reads a body that is passed on unchanged. */
export async function readAnyBody(call: ApiCall): Promise<Uint8Array> {
  try {
    const bytes = await call.call.body(maxBodyBytes);
    call.bodyBytes = bytes.length;
    call.operation?.event("limitedReadBody succeeded", { len: bytes.length });
    call.throwIfAbandoned();
    call.afterBody?.();
    return bytes;
  } catch (error) {
    if (error instanceof BodyTooLarge)
      throw tooLarge(`Request entity too large: limit is ${error.limitBytes}`);
    if (error instanceof IncompleteBody) throw badRequest(error.message);
    throw error;
  }
}

export interface DecodedBody {
  readonly value: ApiObject;
  /** Descriptions of unknown and duplicate fields. */
  readonly strict: readonly string[];
}

/**
 * Decodes one object of the endpoint's kind. Its kind and apiVersion may be absent but must not differ from
 * the expected ones; an expected apiVersion of "*" accepts any.
 */
export function decodeObject(
  bytes: Uint8Array,
  media: Media,
  schema: Message,
  expected: { readonly apiVersion: string; readonly kind: string },
  dialect: Dialect,
  parsed?: ParsedDocument,
): DecodedBody {
  try {
    const decoded =
      media === "protobuf"
        ? fromProtobuf(bytes, schema, dialect)
        : ((media === "yaml"
            ? decodeYaml(schema, bytes)
            : decodeJson(schema, parsed ?? bytes)) as unknown as DecodedBody);
    const { value } = decoded;
    // Custom kinds are checked after decoding.
    if (schema.more.open) return decoded;
    // The empty group of the core may be explicit, as in "/v1".
    if (value.apiVersion?.startsWith("/")) value.apiVersion = value.apiVersion.slice(1);
    if (
      (value.apiVersion && expected.apiVersion !== "*" && value.apiVersion !== expected.apiVersion) ||
      (value.kind && value.kind !== expected.kind)
    ) {
      const sent = { kind: value.kind || expected.kind, apiVersion: value.apiVersion || expected.apiVersion };
      throw typeMismatch(sent, expected, dialect);
    }
    value.apiVersion = expected.apiVersion;
    value.kind = expected.kind;
    return decoded;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // If the body names another kind, that is the error: how it fails to decode as the expected kind is
    // irrelevant.
    const sent = media === "protobuf" || schema.more.open ? undefined : declaredType(bytes, media, expected);
    throw sent
      ? typeMismatch(sent, expected, dialect)
      : badRequest(decodeErrorText(error as Error, bytes, expected));
  }
}

type Type = { readonly apiVersion: string; readonly kind: string };

/**
 * Returns the type that a body names if it differs from the expected one; undefined if it cannot be
 * determined.
 */
function declaredType(bytes: Uint8Array, media: "json" | "yaml", expected: Type): Type | undefined {
  let declared: Partial<Type>;
  try {
    const text = media === "yaml" ? yamlToJson(bytes) : Buffer.from(bytes).toString();
    declared = (JSON.parse(text) ?? {}) as Partial<Type>;
  } catch {
    return undefined;
  }
  const { kind = "", apiVersion = "" } = declared;
  if (typeof kind !== "string" || typeof apiVersion !== "string" || kind === "" || kind === expected.kind)
    return undefined;
  return { kind, apiVersion: apiVersion.replace(/^\//, "") || expected.apiVersion };
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf("/") + 1);

/** Formats the error of a body that cannot be decoded as its kind, or whose kind cannot be determined. */
function decodeErrorText(
  error: Error,
  bytes: Uint8Array,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): string {
  const unnamed = error instanceof YamlError ? error.message : typeless(error);
  return unnamed === undefined
    ? `${kind} in version "${versionOf(apiVersion)}" cannot be handled as a ${kind}: ${error.message}`
    : unrecognized(kind, unnamed, bytes);
}

const unrecognized = (kind: string, why: string, bytes: Uint8Array): string =>
  `the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(bytes)})`;

const typeHeader =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/**
 * Returns the error that prevents reading the version and kind of a document; undefined if the error is
 * elsewhere.
 */
function typeless(error: Error): string | undefined {
  if (!(error instanceof DecodeError))
    return error instanceof JsonSyntaxError
      ? `couldn't get version/kind; json parse error: ${error.message}`
      : undefined;
  if (error.path !== "" && error.path !== "apiVersion" && error.path !== "kind") return undefined;
  const wrong = error.message.replace(/ into Go .*$/, "");
  const where =
    error.path === "" ? `value of type ${typeHeader}` : `struct field .${error.path} of type string`;
  return `couldn't get version/kind; json parse error: ${wrong} into Go ${where}`;
}

const maxSummaryBytes = 30;

function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const start = Buffer.from(bytes.subarray(0, maxSummaryBytes)).toString(bytes[0] === 0x7b ? "utf8" : "hex");
  return bytes.length > maxSummaryBytes ? `${start} ...` : start;
}

function fromProtobuf(bytes: Uint8Array, schema: Message, dialect: Dialect): DecodedBody {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes, dialect.wire.protobufMagic);
  const value = withFieldLimit(() =>
    protobufCodec(schema).decode(raw, undefined, maxFields),
  ) as unknown as ApiObject;
  rejectBytes(value);
  return { value: { ...value, apiVersion, kind }, strict: [] };
}

function withFieldLimit<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw error instanceof TooManyFields
      ? tooLarge(`Request entity too large: limit is ${maxFields} fields`)
      : error;
  }
}

/** Embedded objects must be JSON: bytes in another encoding could not be returned to clients. */
function rejectBytes(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (value instanceof Uint8Array) throw new Error("an embedded object is not JSON");
  for (const inner of Object.values(value)) rejectBytes(inner);
}

/**
 * Handles unknown and duplicate fields as the client requested: ignores them, warns, or rejects the request.
 */
export function applyFieldValidation(
  call: ApiCall,
  decoded: DecodedBody,
  mode: WriteOptions["fieldValidation"],
  kind: string,
): void {
  const { strict } = decoded;
  if (mode === "Ignore" || strict.length === 0) return;
  if (mode === "Strict")
    throw badRequest(
      `${kind} in version "${versionOf(decoded.value.apiVersion)}" cannot be handled as a ${kind}: strict decoding error: ${strictMessage(strict)}`,
    );
  for (const text of strict) call.warn(text);
}

/**
 * Checks that a custom object has the endpoint's kind. In another version all its fields are unknown; another
 * kind is rejected like invalid content.
 */
function checkCustomType(
  call: ApiCall,
  decoded: DecodedBody,
  endpoint: Endpoint,
  { bytes, media, mode }: SentBody & { readonly mode: WriteOptions["fieldValidation"] },
): void {
  const { value } = decoded;
  if (!value.kind) {
    const text = media === "yaml" ? yamlToJson(bytes) : Buffer.from(bytes).toString();
    throw badRequest(unrecognized(endpoint.kind, `Object 'Kind' is missing in '${text}'`, bytes));
  }
  if (value.apiVersion && value.apiVersion.split("/").length > 2)
    throw badRequest(
      unrecognized(endpoint.kind, `unexpected GroupVersion string: ${value.apiVersion}`, bytes),
    );
  if (value.apiVersion !== endpoint.apiVersion) {
    const tops = decoded.strict.map((text) => /"([^".[]+)/.exec(text)?.[1] ?? "");
    const keys = new Set([...Object.keys(value), ...tops].filter((key) => !typeKeys.has(key)));
    const strict = [...keys].sort().map((key) => `unknown field "${key}"`);
    applyFieldValidation(call, { value, strict }, mode, value.kind);
    throw badRequest(
      `the API version in the data (${value.apiVersion ?? ""}) does not match the expected API version (${endpoint.apiVersion})`,
    );
  }
  if (value.kind !== endpoint.kind)
    throw invalid({ group: endpoint.group, kind: value.kind }, value.metadata.name ?? "", [
      invalidValue("kind", value.kind, `must be ${endpoint.kind}`),
    ]);
}

const typeKeys = new Set(["apiVersion", "kind", "metadata", ""]);

interface SentBody {
  readonly bytes: Uint8Array;
  readonly media: string;
}

interface Sent {
  readonly object: ApiObject;
  readonly options: WriteOptions;
}

/**
 * Returns the object of a create or replace request, in the endpoint's own version. Errors are detected in
 * the order clients expect: a create request checks the media type first.
 */
export async function objectFromBody(
  call: ApiCall,
  endpoint: Endpoint,
  kind: "CreateOptions" | "UpdateOptions",
): Promise<Sent> {
  const { dialect } = endpoint.resource;
  if (kind === "CreateOptions") bodyMedia(call.call, dialect);
  const bytes = await readBody(call);
  const options = writeOptions(call, dialect, kind);
  const media = bodyMedia(call.call, dialect);
  const reading = isLarge(bytes.length) ? new TimeSlice() : undefined;
  const parsed = reading && media === "json" ? ParsedDocument.of(bytes) : undefined;
  if (reading?.expired) await reading.yield();
  const decoded = decodeObject(bytes, media, endpoint.schema, endpoint, dialect, parsed);
  if (endpoint.schema.more.open)
    checkCustomType(call, decoded, endpoint, { bytes, media, mode: options.fieldValidation });
  applyFieldValidation(call, decoded, options.fieldValidation, endpoint.kind);
  if (reading?.expired) await reading.yield();
  return { object: decoded.value, options };
}

export { DecodeError };
