// Helpers that read values of parsed configuration files; every error names the field.
import { type FieldError, fieldErrorsText } from "#base";

export type Fields = Readonly<Record<string, unknown>>;

/** An invalid value in a configuration file. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export const configError = (path: string, why: string): ConfigError =>
  new ConfigError(path === "" ? why : `${path}: ${why}`);

/** Throws one ConfigError for all of the validation errors, if there are any. */
export function throwErrors(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new ConfigError(fieldErrorsText(errors));
}

export function fieldsOf(value: unknown, path: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw configError(path, "must be a mapping");
  return value as Fields;
}

export function itemsOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw configError(path, "must be a list");
  return value;
}

export function textOf(value: unknown, path: string, defaultValue = ""): string {
  if (value === undefined || value === null) return defaultValue;
  if (typeof value !== "string") throw configError(path, "must be text");
  return value;
}

export const textsOf = (value: unknown, path: string): readonly string[] =>
  itemsOf(value, path).map((item, at) => textOf(item, `${path}[${at}]`));

export function numberOf(value: unknown, path: string, defaultValue = 0): number {
  if (value === undefined || value === null) return defaultValue;
  if (typeof value !== "number" || !Number.isInteger(value))
    throw configError(path, "must be a whole number");
  return value;
}

export function boolOf(value: unknown, path: string, defaultValue = false): boolean {
  if (value === undefined || value === null) return defaultValue;
  if (typeof value !== "boolean") throw configError(path, "must be true or false");
  return value;
}

/** An error found when a plug-in is initialized, after its configuration file was decoded successfully. */
export class InitializationError extends Error {}

/** Throws unless the object's type is one of the known kinds, each written as `group/version kind`. */
export function checkKind(value: Fields, known: readonly string[], text = JSON.stringify(value)): void {
  const [apiVersion, kind] = [textOf(value["apiVersion"], "apiVersion"), textOf(value["kind"], "kind")];
  if (kind === "") throw configError("", `Object 'Kind' is missing in '${text}'`);
  if (apiVersion === "") throw configError("", `Object 'apiVersion' is missing in '${text}'`);
  if (!known.includes(`${apiVersion} ${kind}`))
    throw configError(
      "",
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
}

/** Throws if the object has unknown fields, for files that are decoded strictly. */
export function checkKnown(value: Fields, known: readonly string[], path = ""): void {
  const unknown = Object.keys(value).filter((field) => !known.includes(field));
  if (unknown.length > 0)
    throw configError(
      "",
      `strict decoding error: ${unknown.map((field) => `unknown field "${path}${field}"`).join(", ")}`,
    );
}
