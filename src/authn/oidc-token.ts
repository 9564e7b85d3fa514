// Parses an identity token before it is verified. Tokens are accepted as by go-jose and go-oidc, with the
// same error messages.
import { jsonKind } from "#base";
import { JsonSyntaxError, parseJson } from "#schema";
import type { Claims } from "./claims.ts";

export interface TokenHeader {
  readonly alg: string;
  readonly kid: string;
  /** The signature covers the payload itself instead of its base64 (RFC 7797). */
  readonly plainPayload: boolean;
}

export interface ParsedToken {
  readonly header: TokenHeader;
  readonly claims: Claims;
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Seconds; undefined if the claim is absent. */
  readonly expiry: number | undefined;
  readonly notBefore: number | undefined;
}

const maxTokenLength = 64 * 1024;

/** Returns the issuer of an unverified token, or undefined if it is not an identity token. */
export function issuerOf(token: string): string | undefined {
  const parts = token.split(".");
  if (parts.length !== 3 || token.length > maxTokenLength) return undefined;
  try {
    return textField(recordOf(jsonOf(decoded(parts[1]!)), "struct"), "iss");
  } catch {
    return undefined;
  }
}

/** Parses the token; throws if it is malformed. */
export function parseToken(token: string): ParsedToken {
  const [head = "", body = "", signature = ""] = token.split(".");
  const { header, payload } = malformed(() => {
    const rawHeader = decoded(head);
    const rawPayload = decoded(body);
    decoded(signature);
    return { header: headerOf(rawHeader), payload: rawPayload };
  });
  try {
    const claims = recordOf(jsonOf(payload), "oidc.idToken");
    const standard = standardClaims(claims);
    return { header, claims, ...standard };
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new Error(`oidc: failed to unmarshal claims: ${(error as Error).message}`, { cause: error });
  }
}

function malformed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`oidc: malformed jwt: ${(error as Error).message}`, { cause: error });
  }
}

/** Decodes unpadded base64url, ignoring line breaks. */
function decoded(text: string): string {
  const joined = text.replace(/[\r\n]/g, "");
  const wrong = joined.search(/[^A-Za-z0-9_-]/);
  if (wrong >= 0) throw new Error(`illegal base64 data at input byte ${wrong}`);
  if (joined.length % 4 === 1) throw new Error(`illegal base64 data at input byte ${joined.length - 1}`);
  return Buffer.from(joined, "base64url").toString();
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // Our own parser produces the reference's error message; it is slower and used only for that.
    parseJson(text);
    throw new JsonSyntaxError((error as Error).message);
  }
}

function recordOf(value: unknown, type: string): Claims {
  if (value === null) return {};
  if (jsonKind(value) !== "object") throw new Error(cannot(value, `value of type ${type}`));
  return value as Claims;
}

const cannot = (value: unknown, into: string): string =>
  `json: cannot unmarshal ${jsonKind(value)} into Go ${into}`;

const headerTexts: readonly [name: string, called: string][] = [
  ["kid", "key ID"],
  ["alg", "algorithm"],
  ["nonce", "nonce"],
];

function headerOf(text: string): TokenHeader {
  const header = text === "" ? {} : recordOf(jsonOf(text), "jose.rawHeader");
  for (const [name, label] of headerTexts) {
    const value = header[name] ?? "";
    if (typeof value !== "string")
      throw new Error(
        `failed to unmarshal ${label}: ${cannot(value, "value of type string")}: ${JSON.stringify(JSON.stringify(value))}`,
      );
  }
  const { alg, kid, b64 } = header as { alg?: string | null; kid?: string | null; b64?: unknown };
  return { alg: alg ?? "", kid: kid ?? "", plainPayload: b64 === false };
}

type Standard = Pick<ParsedToken, "issuer" | "audiences" | "expiry" | "notBefore">;

/** A claim refers to a source that the token does not describe. */
class SourceError extends Error {}

/**
 * Returns the standard claims, matching their names case-insensitively; throws for the first one with a wrong
 * type.
 */
function standardClaims(claims: Claims): Standard {
  let issuer = "";
  let audiences: readonly string[] = [];
  let expiry: number | undefined;
  let notBefore: number | undefined;
  let names: Readonly<Record<string, string>> = {};
  let sources: Claims = {};
  for (const [name, value] of Object.entries(claims))
    switch (name.toLowerCase()) {
      case "iss":
        issuer = textOf(value, "idToken.iss");
        break;
      case "sub":
      case "nonce":
      case "at_hash":
        textOf(value, `idToken.${name.toLowerCase()}`);
        break;
      case "aud":
        audiences = audiencesOf(value);
        break;
      case "exp":
        expiry = timeOf(value, "exp");
        break;
      case "iat":
        timeOf(value, "iat");
        break;
      case "nbf":
        notBefore = value === null ? undefined : timeOf(value, "nbf");
        break;
      case "_claim_names":
        names = namesOf(value);
        break;
      case "_claim_sources":
        sources = sourcesOf(value);
        break;
    }
  for (const source of Object.values(names)) {
    if (source === "") throw new SourceError("oidc: failed to obtain source from claim name");
    if (!Object.hasOwn(sources, source)) throw new SourceError("oidc: source does not exist");
  }
  return { issuer, audiences, expiry, notBefore };
}

/** Returns a text claim; null is the empty string, as in Go. */
function textOf(value: unknown, field: string): string {
  if (value === null) return "";
  if (typeof value !== "string") throw new Error(cannot(value, `struct field ${field} of type string`));
  return value;
}

function textField(claims: Claims, name: string): string {
  let found = "";
  for (const [key, value] of Object.entries(claims))
    if (key.toLowerCase() === name) found = textOf(value, name);
  return found;
}

function audiencesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) {
    if (value !== null && typeof value !== "string")
      throw new Error(cannot(value, "struct field idToken.aud of type []string"));
    return [value ?? ""];
  }
  return value.map((audience) => textOf(audience, "idToken.aud"));
}

/** Returns whole seconds. Numbers in quotes are accepted; a number out of range is an error. */
function timeOf(value: unknown, name: string): number {
  if (typeof value === "string") {
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value))
      throw new Error(
        `json: invalid number literal, trying to unmarshal ${JSON.stringify(JSON.stringify(value))} into Number`,
      );
  } else if (value === null) throw new Error('strconv.ParseFloat: parsing "": invalid syntax');
  else if (typeof value !== "number")
    throw new Error(cannot(value, `struct field idToken.${name} of type json.Number`));
  const seconds = Math.trunc(Number(value));
  if (!Number.isFinite(seconds))
    throw new Error(`strconv.ParseFloat: parsing "${String(value)}": value out of range`);
  return seconds;
}

function namesOf(value: unknown): Readonly<Record<string, string>> {
  if (value === null) return {};
  const field = "struct field idToken._claim_names of type";
  if (jsonKind(value) !== "object") throw new Error(cannot(value, `${field} map[string]string`));
  return Object.fromEntries(
    Object.entries(value as Claims).map(([name, source]) => [name, textOf(source, "idToken._claim_names")]),
  );
}

function sourcesOf(value: unknown): Claims {
  if (value === null) return {};
  const field = "struct field idToken._claim_sources of type";
  if (jsonKind(value) !== "object") throw new Error(cannot(value, `${field} map[string]oidc.claimSource`));
  for (const source of Object.values(value as Claims)) {
    if (source === null) continue;
    if (jsonKind(source) !== "object") throw new Error(cannot(source, `${field} oidc.claimSource`));
    for (const [name, claimed] of Object.entries(source as Claims))
      if (/^(?:endpoint|access_token)$/i.test(name))
        textOf(claimed, `claimSource._claim_sources.${name.toLowerCase()}`);
  }
  return value as Claims;
}
