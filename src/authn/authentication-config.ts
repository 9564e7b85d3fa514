// Parses, validates and compiles the file of --authentication-config. Errors are worded as in
// kube-apiserver's later releases.
import {
  type AuthenticationConfig,
  type JwtAuthenticator,
  authenticationConfigs,
  strictConfigObject,
} from "#api";
import { type FieldError, duplicate, fieldErrorsText, invalidValue, required, tooMany } from "#base";
import type { Dialect } from "#dialect";
import { certificatesOf } from "./trust-bundle.ts";
import type { ClaimMapping } from "./claims.ts";
import { claimMapping } from "./mapping-config.ts";

export interface JwtIssuer {
  readonly url: string;
  readonly discoveryUrl?: string;
  /** PEM text of the trusted certificate authorities; absent for those of the host. */
  readonly ca?: string;
  readonly audiences: readonly string[];
  /** The network of the issuer, if connections to it go through a dedicated proxy. */
  readonly network?: "controlplane" | "cluster";
  readonly mapping: ClaimMapping;
}

/** Whether anonymous requests are allowed, and for which paths; without paths, for all. */
export interface AnonymousRule {
  readonly enabled: boolean;
  readonly paths?: ReadonlySet<string>;
}

export interface AuthenticationConfiguration {
  readonly issuers: readonly JwtIssuer[];
  /** Absent if the file does not configure anonymous requests. */
  readonly anonymous?: AnonymousRule;
}

const maxIssuers = 64;

/**
 * Parses and validates the file. Throws an error naming the file and every invalid field. `reserved` are
 * issuers handled elsewhere, such as those of service accounts.
 */
export function parseAuthenticationConfig(
  text: string,
  file: string,
  dialect: Dialect,
  reserved: readonly string[] = [],
): AuthenticationConfiguration {
  const value: AuthenticationConfig = strictConfigObject(text, file, authenticationConfigs(), dialect);
  const errors: FieldError[] = [];
  const jwt = value.jwt ?? [];
  const issuers: JwtIssuer[] = [];
  if (jwt.length > maxIssuers) errors.push(tooMany("jwt", jwt.length, maxIssuers));
  else {
    const seen = new Set<string>();
    jwt.forEach((each, at) => {
      const issuer = issuerOf(each, `jwt[${at}]`, { dialect, reserved, errors });
      const { url, discoveryURL = "" } = each.issuer;
      if (seen.has(`url ${url}`)) errors.push(duplicate(`jwt[${at}].issuer.url`, url));
      seen.add(`url ${url}`);
      if (discoveryURL !== "" && seen.has(`at ${discoveryURL}`))
        errors.push(duplicate(`jwt[${at}].issuer.discoveryURL`, discoveryURL));
      seen.add(`at ${discoveryURL}`);
      issuers.push(issuer);
    });
  }
  const { anonymous } = value;
  const conditions = anonymous?.conditions ?? [];
  if (anonymous && !anonymous.enabled && conditions.length > 0)
    errors.push(
      invalidValue(
        "anonymous.conditions",
        conditions,
        "enabled should be set to true when conditions are defined",
      ),
    );
  if (errors.length > 0) throw new Error(`${file}: ${fieldErrorsText(errors)}`);
  if (!anonymous) return { issuers };
  const paths = conditions.length > 0 ? { paths: new Set(conditions.map(({ path }) => path)) } : {};
  return { issuers, anonymous: { enabled: anonymous.enabled, ...paths } };
}

export interface ReadingContext {
  readonly dialect: Dialect;
  /** Collects validation errors. */
  readonly errors: FieldError[];
}

function issuerOf(
  jwt: JwtAuthenticator,
  path: string,
  context: ReadingContext & { readonly reserved: readonly string[] },
): JwtIssuer {
  const { errors, reserved } = context;
  const { url, discoveryURL = "", audienceMatchPolicy = "" } = jwt.issuer;
  const audiences = jwt.issuer.audiences ?? [];
  const { certificateAuthority: ca = "", egressSelectorType: network = "" } = jwt.issuer;
  const at = `${path}.issuer`;
  if (url === "") errors.push(required(`${at}.url`));
  else errors.push(...urlErrors(url, `${at}.url`, reserved));
  const trimmed = (text: string): string => text.replace(/\/+$/, "");
  if (discoveryURL !== "") {
    if (url !== "" && trimmed(url) === trimmed(discoveryURL))
      errors.push(
        invalidValue(`${at}.discoveryURL`, discoveryURL, "discoveryURL must be different from URL"),
      );
    errors.push(...urlErrors(discoveryURL, `${at}.discoveryURL`, []));
  }
  errors.push(...audienceErrors(audiences, audienceMatchPolicy, at));
  if (ca !== "") {
    try {
      certificatesOf(ca, "PEM");
    } catch (error) {
      errors.push(invalidValue(`${at}.certificateAuthority`, "<omitted>", (error as Error).message));
    }
  }
  if (network !== "" && network !== "controlplane" && network !== "cluster")
    errors.push(
      invalidValue(
        `${at}.egressSelectorType`,
        network,
        "egress selector must be either controlplane or cluster",
      ),
    );
  const mapping = claimMapping(jwt, path, context);
  return {
    url,
    audiences,
    mapping,
    ...(discoveryURL !== "" && { discoveryUrl: discoveryURL }),
    ...(ca !== "" && { ca }),
    ...(network !== "" && { network: network as "cluster" }),
  };
}

function urlErrors(url: string, path: string, reserved: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const complain = (detail: string): void => void errors.push(invalidValue(path, url, detail));
  if (reserved.includes(url))
    complain(`URL must not overlap with disallowed issuers: [${reserved.toSorted().join(" ")}]`);
  const parsed = URL.parse(url);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme !== "https") complain("URL scheme must be https");
  else if (!parsed) complain(`parse ${JSON.stringify(url)}: invalid URL`);
  if (parsed?.username || parsed?.password) complain("URL must not contain a username or password");
  if (/\?[^#]/.test(url.split("#", 1)[0]!)) complain("URL must not contain a query");
  if (/#./.test(url)) complain("URL must not contain a fragment");
  return errors;
}

function audienceErrors(audiences: readonly string[], policy: string, at: string): FieldError[] {
  const path = `${at}.audiences`;
  if (audiences.length === 0) return [required(path, `at least one ${path} is required`)];
  const errors = audiences.flatMap((audience, index) => [
    ...(audience === "" ? [required(`${path}[${index}]`)] : []),
    ...(audiences.indexOf(audience) < index ? [duplicate(`${path}[${index}]`, audience)] : []),
  ]);
  if (policy !== "MatchAny" && (audiences.length > 1 || policy !== ""))
    errors.push(
      invalidValue(
        `${at}.audienceMatchPolicy`,
        policy,
        audiences.length > 1
          ? "audienceMatchPolicy must be MatchAny for multiple audiences"
          : "audienceMatchPolicy must be empty or MatchAny for single audience",
      ),
    );
  return errors;
}
