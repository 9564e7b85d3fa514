// patch: four ways to say a change, one way to store it.
import { ApiError, badRequest, deepCopy, unsupportedMediaType } from "#base";
import { header, parseMediaType } from "#http";
import type { ApiObject, Change, Endpoint, WriteRequest } from "#registry";
import { applyObject, defaulted, update } from "#registry";
import { DecodeError, PatchError, decodeJson, fromJsonValue, jsonPatch, mergePatch, parseJson, strategicMergePatch, yamlToJson } from "#schema";
import type { ApiCall } from "../api-call.ts";
import { type DecodedBody, judgeStrictness, readBody } from "./body.ts";
import { type Endpointed, objectForms, replyWith, represented, writeRequest } from "./context.ts";
import { type WriteOptions, writeOptions } from "./options.ts";

const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"] as const;
export type PatchType = (typeof patchTypes)[number];

export const patch: Endpointed = async (context, call, endpoint) => {
  const type = patchType(call);
  const applying = type === "application/apply-patch+yaml";
  const { as } = represented(context, call, endpoint, objectForms);
  const options = writeOptions(call, endpoint.resource.dialect, "PatchOptions", applying);
  const changeFor = applying ? applied(await applyConfiguration(call, endpoint, options), options) : patched(await patchedTree(call, endpoint, options, type));
  const request = writeRequest(context, call, endpoint, options);
  const { held, created } = await update(request, call.target.name, changeFor(request));
  return replyWith(as, endpoint, created ? 201 : 200, as.object(held));
};

const patched =
  (change: (served: ApiObject) => ApiObject) =>
  (request: WriteRequest): Change => ({ transform: (old) => defaulted(request, change(request.endpoint.fromHub(old!))) });

const applied =
  (sent: ApiObject, { force = false }: WriteOptions) =>
  (request: WriteRequest): Change => ({
    createIfAbsent: true,
    tracked: true,
    uid: sent.metadata.uid,
    transform: (old) => applyObject(request, sent.metadata.name!, old, sent, force),
  });

export function patchType(call: ApiCall): PatchType {
  const said = parseMediaType(header(call.call.headers, "content-type") ?? "");
  const essence = said && `${said.type}/${said.subtype}`;
  const found = patchTypes.find((item) => item === essence);
  if (!found)
    throw new ApiError(
      415,
      "UnsupportedMediaType",
      unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${patchTypes.join(", ")}`).message,
      {},
    );
  return found;
}

/** Reads a patch: what it makes of an object in the endpoint's version. */
export async function patchedTree(call: ApiCall, endpoint: Endpoint, options: WriteOptions, type: PatchType): Promise<(served: ApiObject) => ApiObject> {
  const parsed = parsedPatch(await readBody(call));
  if (type !== "application/json-patch+json" && (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)))
    throw badRequest("the patch must be a JSON object");
  judgeStrictness(call, { value: { apiVersion: endpoint.apiVersion } as ApiObject, unknown: [], duplicate: parsed.duplicate }, options.fieldValidation, "patch");
  let judged = false;
  return (served) => {
    const tree = transformed(type, endpoint, served, parsed.value);
    const decoded = decodedPatch(endpoint, tree, call.target.name);
    if (!judged) judgePatch(call, endpoint, decoded, options);
    judged = true;
    if (decoded.value.metadata.name !== call.target.name)
      throw badRequest(`the name of the object (${decoded.value.metadata.name}) does not match the name on the URL (${call.target.name})`);
    return deepCopy(decoded.value);
  };
}

function parsedPatch(body: Uint8Array): { value: unknown; duplicate: readonly string[] } {
  try {
    return parseJson(Buffer.from(body).toString());
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}

function transformed(type: PatchType, endpoint: Endpoint, served: ApiObject, parsed: unknown): unknown {
  const document = served as unknown as Parameters<typeof mergePatch>[0];
  try {
    if (type === "application/json-patch+json") return jsonPatch(document, parsed);
    return type === "application/merge-patch+json" ? mergePatch(document, parsed) : strategicMergePatch(endpoint.schema, document, parsed);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw error.code === 422
      ? new ApiError(422, "Invalid", `the server rejected our request due to an error in our request: ${error.message}`, {})
      : error.code === 413
        ? new ApiError(413, "RequestEntityTooLarge", error.message)
        : badRequest(error.message);
  }
}

function decodedPatch(endpoint: Endpoint, tree: unknown, name: string): DecodedBody {
  try {
    const decoded = fromJsonValue(endpoint.schema, tree) as unknown as DecodedBody;
    const { value } = decoded;
    if (value.kind !== endpoint.kind || value.apiVersion !== endpoint.apiVersion)
      throw invalidPatch(name, `kind and apiVersion may not change (to ${value.kind}, ${value.apiVersion})`);
    return decoded;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw invalidPatch(name, error.message);
  }
}

const invalidPatch = (name: string, why: string): ApiError =>
  new ApiError(422, "Invalid", `"${name}" is invalid: patch: Invalid value: ${why}`, {
    causes: [{ reason: "FieldValueInvalid", message: `Invalid value: ${why}`, field: "patch" }],
  });

/** Fields that nobody knows: a warning, or for a strict client the same refusal as for a value of the wrong type. */
function judgePatch(call: ApiCall, endpoint: Endpoint, decoded: DecodedBody, options: WriteOptions): void {
  if (options.fieldValidation !== "Strict") judgeStrictness(call, decoded, options.fieldValidation, endpoint.kind);
  else if (decoded.unknown.length > 0) throw invalidPatch(call.target.name, `strict decoding error: ${decoded.unknown.map((path) => `unknown field "${path}"`).join(", ")}`);
}

/** Reads an applied configuration of the endpoint's kind. */
export async function applyConfiguration(call: ApiCall, endpoint: Endpoint, options: WriteOptions): Promise<ApiObject> {
  const sent = applyBody(call, endpoint, options, await readBody(call));
  const { name, namespace } = sent.metadata;
  if (name !== call.target.name) throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.target.name})`);
  if (namespace && endpoint.resource.namespaced && namespace !== call.target.namespace)
    throw badRequest(`the namespace of the object (${namespace}) does not match the namespace on the request (${call.target.namespace})`);
  return sent;
}

function applyBody(call: ApiCall, endpoint: Endpoint, options: WriteOptions, body: Uint8Array): ApiObject {
  let decoded: DecodedBody;
  let value: ApiObject;
  try {
    const text = yamlToJson(Buffer.from(body).toString());
    decoded = decodeJson(endpoint.schema, text) as unknown as DecodedBody;
    value = parseJson(text).value as ApiObject;
  } catch (error) {
    throw badRequest(`error decoding YAML: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || !value.apiVersion || !value.kind) throw badRequest(`the applied object must say its apiVersion and kind`);
  if (value.apiVersion !== endpoint.apiVersion || value.kind !== endpoint.kind)
    throw badRequest(
      `Incorrect version or kind specified in apply patch. Specified patch version: ${value.apiVersion} ${value.kind}, expected: ${endpoint.apiVersion} ${endpoint.kind}`,
    );
  if (decoded.unknown.length > 0) throw badRequest(`field not declared in schema: ${decoded.unknown.map((path) => `.${path}`).join(", ")}`);
  if (decoded.duplicate.length > 0) judgeStrictness(call, decoded, options.fieldValidation, endpoint.kind);
  value.metadata ??= { creationTimestamp: null };
  return value;
}
