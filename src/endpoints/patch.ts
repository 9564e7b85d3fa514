// patch: four patch types with a common way to store the result.
import {
  ApiError,
  type FieldError,
  badRequest,
  deepCopy,
  goPlain,
  invalid as invalidObject,
  invalidValue,
  jsonKind,
  tooLarge,
  unsupportedMediaType,
} from "#base";
import { header } from "#http";
import {
  type ApiObject,
  type Endpoint,
  type ObjectUpdate,
  type WriteRequest,
  applyObject,
  defaulted,
  update,
} from "#registry";
import {
  DecodeError,
  PatchError,
  applyDefaults,
  converterMessage,
  duplicateKeysMessage,
  fromJsonValue,
  jsonPatch,
  mergePatch,
  parseJson,
  parseYaml,
  strategicMergePatch,
  stringifyJson,
} from "#schema";
import type { ApiCall } from "./api-call.ts";
import { type DecodedBody, readBody } from "./body.ts";
import { type EndpointHandler, replyWith, represented, writeRequest } from "./context.ts";
import { checkIdentity } from "./identity.ts";
import { responding } from "./operation-span.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { recordPatch } from "./recorded-request.ts";
import { invalidPatch } from "./patch-error.ts";
import { patchedText } from "./patched-text.ts";
import { endpointOfVersion } from "./registered-versions.ts";

export const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
] as const;
export type PatchType = (typeof patchTypes)[number];

export const patch: EndpointHandler = async (context, call, endpoint) => {
  const type = patchType(call, endpoint.resource.strategy.custom);
  const applying = type === "application/apply-patch+yaml";
  const { as, unrepresentable } = represented(context, call, endpoint, "object");
  const body = await readBody(call);
  recordPatch(call, body);
  call.operation?.step("Recorded the audit event");
  const options = writeOptions(call, endpoint.resource.dialect, "PatchOptions", applying);
  const changeFor = applying
    ? applied(
        applyConfiguration(call, endpoint, options, body),
        { name: call.target.name, force: options.force ?? false },
        () => context.mayCreate(call),
      )
    : patched(patchedTree(call, endpoint, options, { type, body }));
  const request = writeRequest(context, call, endpoint, { ...options, unrepresentable });
  const { object, created } = await update(request, call.target.name, changeFor(request));
  call.operation?.event("Object stored in database");
  call.operation?.event(responding);
  return replyWith(as, endpoint, created ? 201 : 200, as.object(object));
};

const patched =
  (change: PatchedTree) =>
  (request: WriteRequest): ObjectUpdate => ({
    pure: request.endpoint.isHub,
    transform: async (old) => {
      change.read();
      request.span?.step("About to apply patch");
      if (request.yieldBudget?.expired) await request.yieldBudget.yield();
      const next = change.change(request.endpoint.fromHub(old!));
      if (request.yieldBudget?.expired) await request.yieldBudget.yield();
      request.span?.step("About to check admission control");
      return defaulted(request, next);
    },
  });

const applied =
  (
    configuration: Configuration,
    how: { readonly name: string; readonly force: boolean },
    mayCreate: () => Promise<void>,
  ) =>
  (request: WriteRequest): ObjectUpdate => ({
    createIfAbsent: true,
    mayCreate,
    tracked: true,
    pure: true,
    transform: async (old) => {
      const sent = configuration.read();
      if (request.yieldBudget?.expired) await request.yieldBudget.yield();
      request.span?.step("About to apply patch");
      const object = await applyObject(request, old, sent, how);
      request.span?.step("About to check admission control");
      configuration.validate();
      return object;
    },
  });

export function patchType(call: ApiCall, custom = false): PatchType {
  // Custom kinds have no strategic merge information.
  const known = custom
    ? patchTypes.filter((type) => type !== "application/strategic-merge-patch+json")
    : patchTypes;
  const contentType = header(call.call.headers, "content-type") ?? "";
  const found = known.find((item) => contentType === item || contentType.startsWith(`${item};`));
  if (found) return found;
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${known.join(", ")}`,
  );
}

export interface SentPatch {
  readonly type: PatchType;
  readonly body: Uint8Array;
}

/** A patch, applied to objects in the endpoint's version. */
export interface PatchedTree {
  /** Parses the patch once. It is only parsed if the object exists. */
  read(): void;
  change(served: ApiObject): ApiObject;
}

export function patchedTree(
  call: ApiCall,
  endpoint: Endpoint,
  options: WriteOptions,
  { type, body }: SentPatch,
): PatchedTree {
  let parsed: ParsedPatch | undefined;
  let reported = false;
  const read = (): ParsedPatch => (parsed ??= parsedPatch(body, type, options.fieldValidation));
  return {
    read,
    change: (served) => {
      const { value, strict } = read();
      const tree = transformed(type, endpoint, served, value);
      const invalid = (why: string): ApiError =>
        invalidPatch(shownPatch(type, value, { served, tree, endpoint }), why);
      const decoded = decodedPatch(endpoint, tree, type, call.target.name, invalid);
      if (!reported)
        reportFindings(call, [...strict, ...decoded.strict.toSorted()], options.fieldValidation, invalid);
      reported = true;
      checkIdentity(decoded.value.metadata, call, endpoint);
      return copyOf(decoded.value);
    },
  };
}

/** Copies an object, except its managed fields, which are replaced but never modified. */
function copyOf(object: ApiObject): ApiObject {
  const { managedFields } = object.metadata;
  if (!managedFields) return deepCopy(object);
  const copy = deepCopy({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
  return Object.assign(copy, { metadata: Object.assign(copy.metadata, { managedFields }) });
}

interface ParsedPatch {
  readonly value: unknown;
  readonly strict: readonly string[];
}

function parsedPatch(body: Uint8Array, type: PatchType, mode: WriteOptions["fieldValidation"]): ParsedPatch {
  let parsed: { readonly value: unknown; readonly duplicate: readonly string[] };
  try {
    parsed = parseJson(Buffer.from(body).toString());
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
  const { value } = parsed;
  const duplicate = parsed.duplicate.map((path) => `duplicate field "${path}"`);
  if (type === "application/json-patch+json")
    return {
      value,
      strict:
        mode === "Ignore"
          ? []
          : [...duplicate, ...operationFindings(value)]
              .toSorted((a, b) => operationOf(a) - operationOf(b))
              .map((text) => `json patch ${text}`),
    };
  if (value === null && type === "application/strategic-merge-patch+json")
    return { value: {}, strict: duplicate };
  // If parsed leniently, a list is merged like any value, and the result is not an object.
  if (mode === "Ignore" && type === "application/merge-patch+json" && Array.isArray(value))
    throw invalidPatch(Buffer.from(body).toString(), "a list is no object");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
    );
  return { value, strict: duplicate };
}

/** The index of the operation that a finding refers to. */
const operationOf = (finding: string): number => Number(/\[(\d+)\]/.exec(finding)?.[1] ?? 0);

/** Returns unknown fields in the operations of a JSON patch. */
function operationFindings(patch: unknown): string[] {
  const findings: string[] = [];
  for (const [position, operation] of (Array.isArray(patch) ? patch : []).entries()) {
    for (const [key, value] of Object.entries((operation as object | null) ?? {})) {
      if (key === "op" || key === "path" || key === "from") {
        if (typeof value !== "string" && value !== null)
          throw badRequest(`error decoding patch: ${key} of operation ${position} must be a text`);
      } else if (key !== "value") findings.push(`unknown field "[${position}].${key}"`);
    }
  }
  return findings;
}

function transformed(type: PatchType, endpoint: Endpoint, served: ApiObject, parsed: unknown): unknown {
  const document = served as unknown as Parameters<typeof mergePatch>[0];
  try {
    if (type === "application/json-patch+json") return jsonPatch(document, parsed);
    return type === "application/merge-patch+json"
      ? mergePatch(document, parsed)
      : strategicMergePatch(endpoint.schema, document, parsed);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw error.code === 422
      ? new ApiError(
          422,
          "Invalid",
          `the server rejected our request due to an error in our request: ${error.message}`,
          {},
        )
      : error.code === 413
        ? tooLarge(`Request entity too large: ${error.message}`)
        : badRequest(error.message);
  }
}

/**
 * Decodes the result of a patch. Strategic merge patches only modify fields and cannot change the kind; the
 * result of other types is decoded as if it had been sent.
 */
function decodedPatch(
  endpoint: Endpoint,
  tree: unknown,
  type: PatchType,
  name: string,
  invalid: (why: string) => ApiError,
): DecodedBody {
  try {
    const truncates = type === "application/strategic-merge-patch+json";
    if (!truncates && !endpoint.resource.strategy.custom) {
      const { kind, apiVersion } = (tree ?? {}) as Partial<Record<"kind" | "apiVersion", unknown>>;
      if (typeof apiVersion === "string" && apiVersion !== "" && apiVersion !== endpoint.apiVersion) {
        const other = kind && kind !== endpoint.kind ? undefined : endpointOfVersion(endpoint, apiVersion);
        if (!other) throw invalid(`kind and apiVersion may not change (to ${String(kind)}, ${apiVersion})`);
        return inVersion(endpoint, other, tree);
      }
    }
    const decoded = fromJsonValue(endpoint.schema, tree, { truncates }) as unknown as DecodedBody;
    const { value } = decoded;
    if (endpoint.resource.strategy.custom) checkCustomPatch(endpoint, value, name, invalid);
    else if (!truncates) {
      if (!value.apiVersion)
        throw badRequest(
          `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
        );
      if (value.kind && value.kind !== endpoint.kind)
        throw invalid(`kind and apiVersion may not change (to ${value.kind}, ${value.apiVersion})`);
    }
    value.kind = endpoint.kind;
    value.apiVersion = endpoint.apiVersion;
    return decoded;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw invalid(
      type === "application/strategic-merge-patch+json" ? converterMessage(error) : error.message,
    );
  }
}

/** Decodes an object in another version of its kind and converts it to the version of the request. */
function inVersion(endpoint: Endpoint, other: Endpoint, tree: unknown): DecodedBody {
  const { value, strict } = fromJsonValue(other.schema, tree) as unknown as DecodedBody;
  applyDefaults(other.schema, value as never);
  const named = { ...value, kind: endpoint.kind, apiVersion: other.apiVersion };
  if (other === endpoint) return { value: named, strict };
  return { value: endpoint.fromHub(other.toHub(named)), strict };
}

/**
 * The kind and version of a custom object are content like any other field: changing them is a validation
 * error.
 */
function checkCustomPatch(
  endpoint: Endpoint,
  { kind, apiVersion }: DecodedBody["value"],
  name: string,
  invalidPatch: (why: string) => ApiError,
): void {
  if (!kind) throw invalidPatch("Object 'Kind' is missing");
  if (!apiVersion) throw badRequest("Object 'apiVersion' is missing");
  const errors: FieldError[] = [];
  if (kind !== endpoint.kind) errors.push(invalidValue("kind", kind, `must be ${endpoint.kind}`));
  if (apiVersion !== endpoint.apiVersion)
    errors.push(invalidValue("apiVersion", apiVersion, `must be ${endpoint.apiVersion}`));
  const group = apiVersion.slice(0, Math.max(apiVersion.indexOf("/"), 0));
  if (errors.length > 0) throw invalidObject({ group, kind }, name, errors);
}

/**
 * The patch as shown in its error: for a strategic merge patch what was sent, otherwise the resulting object.
 */
const shownPatch = (
  type: PatchType,
  parsed: unknown,
  of: { readonly served: ApiObject; readonly tree: unknown; readonly endpoint: Endpoint },
): string => {
  const { redacted, custom } = of.endpoint.resource.strategy;
  if (redacted !== undefined) return redacted;
  return type === "application/strategic-merge-patch+json"
    ? goPlain(parsed)
    : patchedText(of.tree, custom ? {} : of.served);
};

/**
 * Handles unknown and duplicate fields: warns, or for strict clients rejects the patch like one with a value
 * of the wrong type.
 */
function reportFindings(
  call: ApiCall,
  findings: readonly string[],
  mode: WriteOptions["fieldValidation"],
  invalid: (why: string) => ApiError,
): void {
  if (mode === "Ignore" || findings.length === 0) return;
  if (mode === "Strict") throw invalid(`strict decoding error: ${findings.join(", ")}`);
  for (const text of findings) call.warn(text);
}

/** A server-side apply configuration of the endpoint's kind. */
export interface Configuration {
  /** Parses the configuration on first use. */
  read(): ApiObject;
  /**
   * Reports a mismatched identity and duplicate fields; called after conflict detection, which has precedence
   * for clients.
   */
  validate(): void;
}

export function applyConfiguration(
  call: ApiCall,
  endpoint: Endpoint,
  options: WriteOptions,
  body: Uint8Array,
): Configuration {
  let parsed: { readonly sent: ApiObject; readonly duplicate: readonly string[] } | undefined;
  const parse = (): NonNullable<typeof parsed> => (parsed ??= parsedConfiguration(endpoint, body));
  let reported = false;
  return {
    read: () => parse().sent,
    validate: () => {
      const { sent, duplicate } = parse();
      // Fields that the subresource resets are ignored, including another name.
      const part = endpoint.resource.strategy.subresources?.[call.target.subresource];
      const { name, namespace } = part?.resets?.includes("metadata") ? {} : sent.metadata;
      checkIdentity({ name: name ?? call.target.name, namespace }, call, endpoint);
      if (reported || duplicate.length === 0) return;
      reported = true;
      if (options.fieldValidation === "Strict")
        throw badRequest(
          `error strict decoding YAML: error converting YAML to JSON: ${duplicateKeysMessage(duplicate)}`,
        );
      if (options.fieldValidation === "Warn") for (const text of duplicate) call.warn(text);
    },
  };
}

function parsedConfiguration(
  endpoint: Endpoint,
  body: Uint8Array,
): { readonly sent: ApiObject; readonly duplicate: readonly string[] } {
  let parsed: ReturnType<typeof parseYaml>;
  try {
    parsed = parseYaml(body);
  } catch (error) {
    throw badRequest(`error decoding YAML: ${(error as Error).message}`);
  }
  const { value, duplicate } = parsed;
  if ((value !== null && typeof value !== "object") || Array.isArray(value))
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
    );
  const sent = parseJson(stringifyJson(value ?? {})).value as ApiObject;
  const { apiVersion, kind } = sent as { apiVersion?: unknown; kind?: unknown };
  if (apiVersion !== endpoint.apiVersion)
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${typeof apiVersion === "string" ? apiVersion : ""}, expected: ${endpoint.apiVersion}`,
    );
  if (kind !== endpoint.kind)
    throw badRequest(
      `Incorrect kind specified in apply patch. Specified patch kind: ${typeof kind === "string" ? kind : ""}, expected: ${endpoint.kind}`,
    );
  sent.metadata ??= {} as ApiObject["metadata"];
  return { sent, duplicate };
}
