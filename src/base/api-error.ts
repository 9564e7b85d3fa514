// The only error that carries an API status. Any other error that reaches a client is unexpected and is
// answered with 500.
import { goNumber, goSyntax } from "./go-value.ts";
import { goQuoted } from "./unprintable.ts";

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The resource an error refers to. The group is the name on the wire; empty for the core group. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

const qualified = ({ group, resource }: ResourceName): string => (group ? `${resource}.${group}` : resource);
const detailsOf = ({ group, resource }: ResourceName, name: string): StatusDetails => ({
  ...(name && { name }),
  ...(group && { group }),
  kind: resource,
});

export const notFound = (resource: ResourceName, name: string): ApiError =>
  new ApiError(404, "NotFound", `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));

export const alreadyExists = (resource: ResourceName, name: string): ApiError =>
  new ApiError(
    409,
    "AlreadyExists",
    `${qualified(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );

export const conflict = (resource: ResourceName, name: string, why: string): ApiError =>
  new ApiError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );

export const forbidden = (resource: ResourceName, name: string, why: string): ApiError =>
  new ApiError(
    403,
    "Forbidden",
    resource.resource
      ? `${qualified(resource)}${name && ` "${name}"`} is forbidden: ${why}`
      : `forbidden: ${why}`,
    detailsOf(resource, name),
  );

export const badRequest = (message: string): ApiError => new ApiError(400, "BadRequest", message);
export const unauthorized = (message = "Unauthorized"): ApiError =>
  new ApiError(401, "Unauthorized", message);
export const expired = (message: string): ApiError => new ApiError(410, "Expired", message);
export const gone = (message: string): ApiError => new ApiError(410, "Gone", message);
export const tooLarge = (message: string): ApiError => new ApiError(413, "RequestEntityTooLarge", message);
export const unsupportedMediaType = (message: string): ApiError =>
  new ApiError(415, "UnsupportedMediaType", message);
export const notAcceptable = (message: string): ApiError => new ApiError(406, "NotAcceptable", message);
export const internal = (message: string): ApiError =>
  new ApiError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
/** The error kube-apiserver returns when one of its components fails with an error that carries no status. */
export const plainError = (message: string): ApiError => new ApiError(500, "", message);
export const serviceUnavailable = (message: string): ApiError =>
  new ApiError(503, "ServiceUnavailable", message);

export const methodNotAllowed = (): ApiError =>
  new ApiError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(429, "TooManyRequests", message, { retryAfterSeconds });

export const timeout = (message: string, retryAfterSeconds = 0): ApiError =>
  new ApiError(504, "Timeout", message, retryAfterSeconds ? { retryAfterSeconds } : undefined);

/**
 * Returns the error for an object that failed validation. `kind` is the kind's name, its group the name on
 * the wire.
 */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const { texts, causes } = messagesAndCauses(errors);
  const more = errors.length > causes.length ? `, and ${errors.length - causes.length} more` : "";
  const text = texts.length === 1 && !more ? texts[0]! : `[${texts.join(", ")}${more}]`;
  return new ApiError(
    422,
    "Invalid",
    `${kind.group ? `${kind.kind}.${kind.group}` : kind.kind} "${name}" is invalid: ${text}`,
    {
      ...(name && { name }),
      ...(kind.group && { group: kind.group }),
      kind: kind.kind,
      causes,
    },
  );
}

/** Number of field errors after which validation may stop: errors beyond it are not reported. */
export const maxFieldErrors = 20_000;

/**
 * Size limit of the reported errors. A list may be as long as a request, and each of its items may appear in
 * an error with its whole value.
 */
const maxErrorLength = 1024 * 1024;

/**
 * Returns the errors as messages and as causes, up to a size limit. Repeated messages are merged; each error
 * keeps its own cause.
 */
function messagesAndCauses(errors: readonly FieldError[]): {
  readonly texts: readonly string[];
  readonly causes: readonly StatusCause[];
} {
  const texts = new Set<string>();
  const causes: StatusCause[] = [];
  let length = 0;
  for (const error of errors) {
    if (length > maxErrorLength) break;
    const message = fieldErrorBody(error);
    length += error.field.length + message.length;
    texts.add(`${error.field}: ${message}`);
    causes.push({ reason: error.type, message, field: error.field });
  }
  return { texts: [...texts], causes };
}

export type FieldErrorType =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueNotFound"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "InternalError";

/** One validation error of one field: `field` is a path such as `spec.containers[0].name`. */
export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly detail: string;
  readonly value?: unknown;
}

const descriptions: Record<FieldErrorType, string> = {
  FieldValueRequired: "Required value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueForbidden: "Forbidden",
  FieldValueNotFound: "Not found",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueTypeInvalid: "Invalid value",
  InternalError: "Internal error",
};
const valueless = new Set<FieldErrorType>([
  "FieldValueRequired",
  "FieldValueForbidden",
  "FieldValueTooLong",
  "InternalError",
]);

/** Replaces bigints, which hold integers beyond 2^53 and which JSON.stringify rejects. */
const largeNumbers = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? Number(value) : value;

/** A value whose text in error messages is given explicitly. */
export class LiteralValue {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Wraps an object or array of a document that has no declared type, so that errors print it in Go syntax. */
export const untypedValue = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? new LiteralValue(goSyntax(value)) : value;

/** Stands for a value that error messages leave out. */
export const omitted = new LiteralValue("");

/**
 * Formats a value as in errors of kube-apiserver: a missing value is the string "null", lists of strings
 * carry their type.
 */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return '"null"';
  if (value instanceof LiteralValue) return value.text;
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"))
    return `[]string{${value.map(goQuoted).join(", ")}}`;
  if (typeof value === "number") return goNumber(value);
  if (typeof value === "string") return goQuoted(value);
  return typeof value === "object" ? JSON.stringify(value, largeNumbers) : String(value);
}

/** For a list or map with too many entries, errors show only their number. */
const shownValue = ({ type, value }: FieldError): unknown =>
  type === "FieldValueTooMany" && typeof value === "object" && value !== null
    ? Object.keys(value).length
    : value;

function fieldErrorBody(error: FieldError): string {
  const isShown = !valueless.has(error.type) && error.value !== omitted;
  const shown = isShown ? `: ${valueText(shownValue(error))}` : "";
  return `${descriptions[error.type]}${shown}${error.detail && `: ${error.detail}`}`;
}

/** The message of one field error: `spec.x: Invalid value: "y": must be …`. */
export const fieldErrorText = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`;

/** Joins the messages of several field errors and removes duplicates. */
export function fieldErrorsText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(fieldErrorText))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
}

export const required = (field: string, detail = ""): FieldError => ({
  type: "FieldValueRequired",
  field,
  detail,
});
export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  type: "FieldValueInvalid",
  field,
  value,
  detail,
});
export const duplicate = (field: string, value: unknown): FieldError => ({
  type: "FieldValueDuplicate",
  field,
  value,
  detail: "",
});
export const forbiddenField = (field: string, detail: string): FieldError => ({
  type: "FieldValueForbidden",
  field,
  detail,
});
export const tooLong = (field: string, value: unknown, maximum: number): FieldError => ({
  type: "FieldValueTooLong",
  field,
  value,
  detail: `must have at most ${maximum} bytes`,
});
export const tooMany = (field: string, count: number, maximum: number): FieldError => ({
  type: "FieldValueTooMany",
  field,
  value: count,
  detail: `must have at most ${maximum} items`,
});
export const notSupported = (field: string, value: unknown, allowed: readonly string[]): FieldError => ({
  type: "FieldValueNotSupported",
  field,
  value,
  detail: allowed.length ? `supported values: ${allowed.map((item) => JSON.stringify(item)).join(", ")}` : "",
});
