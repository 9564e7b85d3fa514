// Secrets: each type requires certain keys. Text from stringData is stored in data.
import { Secret } from "#api";
import { type FieldError, invalidValue, required, setOwn, tooLong } from "#base";
import type { Dialect } from "#dialect";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { base64Bytes, dataKeyErrors, maxDataBytes } from "./rules/data-key.ts";
import { immutableErrors } from "./rules/immutable.ts";
import { unchanged } from "./rules/unchanged.ts";
import { pairFault } from "./tls-pair.ts";

const redacted = "<secret contents redacted>";
type Data = NonNullable<Secret["data"]>;

function foldText(secret: Secret): void {
  for (const [key, value] of Object.entries(secret.stringData ?? {}))
    setOwn((secret.data ??= {}), key, Buffer.from(value).toString("base64"));
  delete secret.stringData;
}

function errorsOf(secret: Secret, dialect: Dialect): FieldError[] {
  const data = secret.data ?? {};
  const errors = Object.keys(data).flatMap((key) => dataKeyErrors(key, "data"));
  const size = Object.values(data).reduce((sum, value) => sum + base64Bytes(value), 0);
  if (size > maxDataBytes) errors.push(tooLong("data", "", maxDataBytes));
  return [...errors, ...typeErrors(secret, data, dialect)];
}

const needed = (key: string): FieldError => required(`data[${key}]`);

function typeErrors({ type, metadata }: Secret, data: Data, { names }: Dialect): FieldError[] {
  const { secretTypes: types, annotations } = names;
  const present = (key: string): boolean => Object.hasOwn(data, key);
  const missing = (...keys: readonly string[]): FieldError[] =>
    keys.filter((key) => !present(key)).map(needed);
  switch (type) {
    case types.serviceAccountToken:
      return metadata.annotations?.[annotations.serviceAccountName]
        ? []
        : [required(`metadata.annotations[${annotations.serviceAccountName}]`)];
    case types.dockerConfig:
      return jsonErrors(data, ".dockercfg");
    case types.dockerConfigJson:
      return jsonErrors(data, ".dockerconfigjson");
    case types.basicAuth:
      return present("username") || present("password") ? [] : [needed("username"), needed("password")];
    case types.sshAuth:
      return data["ssh-privatekey"] ? [] : [needed("ssh-privatekey")];
    case types.tls:
      return missing("tls.crt", "tls.key");
    default:
      return [];
  }
}

/** Validates that the key holds a JSON object. Its content is never included in errors. */
function jsonErrors(data: Data, key: string): FieldError[] {
  const value = data[key];
  if (value === undefined) return [needed(key)];
  const wrong = (detail: string): FieldError[] => [invalidValue(`data[${key}]`, redacted, detail)];
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value, "base64").toString());
    return parsed === null || (typeof parsed === "object" && !Array.isArray(parsed))
      ? []
      : wrong("must be a JSON object");
  } catch {
    return wrong("must be well-formed JSON");
  }
}

function pairWarnings({ type, data }: Secret, { names }: Dialect): string[] {
  if (type !== names.secretTypes.tls) return [];
  const bytes = (key: string): Buffer => Buffer.from(data?.[key] ?? "", "base64");
  const fault = pairFault(bytes("tls.crt"), bytes("tls.key"));
  return fault === undefined ? [] : [fault];
}

export const secret = strategy<Secret>({
  resource: "secrets",
  singular: "secret",
  scope: "Namespaced",
  hub: Secret,
  redacted,
  metaChecks: { asNew: 1 },
  defaults: foldText,
  validate: (obj, { dialect }) => errorsOf(obj, dialect),
  validateUpdate: (obj, old, { dialect }) => [
    ...unchanged(obj.type, old.type, "type"),
    ...immutableErrors(obj, old, ["data"]),
    ...errorsOf(obj, dialect),
  ],
  warnings: (obj, _old, { dialect }) => pairWarnings(obj, dialect),
  fields: ({ type }) => ({ type: type ?? "" }),
  columns: [
    nameColumn,
    {
      name: "Type",
      type: "string",
      doc: "Type of the secret.",
      cell: ({ type }: Secret) => type ?? "",
    },
    {
      name: "Data",
      type: "string",
      doc: "Number of entries.",
      cell: ({ data }: Secret) => Object.keys(data ?? {}).length,
    },
    ageColumn,
  ],
});
