// Options of authentication: certificates, tokens, webhooks, identity providers, service accounts.

import {
  bool,
  duration,
  each,
  file,
  listOf,
  mapOf,
  notNegative,
  oneOf,
  option,
  repeated,
  section,
  strings,
  text,
  url,
} from "#options";

export const signingAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
] as const;
const headerName = (value: string): string | undefined =>
  /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/.test(value) ? undefined : "must be a header name";

export const authenticationSection = () =>
  section("Authentication", [
    option({
      flag: "anonymous-auth",
      type: bool,
      default: true,
      doc: "Allow requests that no authentication method rejects or recognizes, as user system:anonymous of group system:unauthenticated.",
    }),
    option({
      flag: "authentication-config",
      type: file,
      default: "",
      readable: true,
      doc: "File with an AuthenticationConfiguration: token issuers with claim mappings and rules, and the paths that allow anonymous requests. Replaces the --oidc-* flags; reloaded when it changes.",
    }),
    option({
      flag: "client-ca-file",
      type: file,
      default: "",
      readable: true,
      doc: "CA bundle of client certificates: a request with a certificate signed by one of them is authenticated as the certificate's CommonName.",
    }),
    option({
      flag: "token-auth-file",
      type: file,
      default: "",
      readable: true,
      doc: 'File with bearer tokens, one record token,user,uid,"group,…" per line.',
    }),
    option({
      flag: "enable-bootstrap-token-auth",
      type: bool,
      default: false,
      doc: "Accept the tokens in secrets of the bootstrap token type in the system namespace.",
    }),
    option({
      flag: "authentication-token-webhook-config-file",
      type: file,
      default: "",
      readable: true,
      doc: "Client configuration of the webhook that authenticates bearer tokens.",
    }),
    option({
      flag: "authentication-token-webhook-version",
      type: oneOf("v1beta1", "v1"),
      default: "v1beta1",
      doc: "API version of the TokenReview sent to the webhook: v1beta1 or v1.",
    }),
    option({
      flag: "authentication-token-webhook-cache-ttl",
      type: duration,
      default: 120_000,
      check: notNegative,
      doc: "How long responses of the webhook are cached.",
    }),
    option({
      flag: "api-audiences",
      type: strings,
      default: [],
      defaultText: "the first --service-account-issuer",
      derive: (look) =>
        look.isSet("serviceAccountIssuer")
          ? {
              value: (look.value("serviceAccountIssuer") as readonly string[]).slice(0, 1),
              from: "--service-account-issuer",
            }
          : undefined,
      doc: "Audiences of this API; a service account token must be issued for at least one of them.",
    }),
    option({
      flag: "oidc-issuer-url",
      type: url("https"),
      default: "",
      doc: "URL of the OpenID issuer; only https is accepted.",
    }),
    option({
      flag: "oidc-client-id",
      type: text,
      default: "",
      doc: "Client ID that tokens must be issued for. Required with --oidc-issuer-url.",
    }),
    option({
      flag: "oidc-ca-file",
      type: file,
      default: "",
      defaultText: "the host's root CAs",
      readable: true,
      doc: "CA bundle that verifies the issuer's certificate.",
    }),
    option({
      flag: "oidc-username-claim",
      type: text,
      default: "sub",
      doc: "Claim to use as the user name. Claims other than sub are not guaranteed to be unique and immutable. Experimental.",
    }),
    option({
      flag: "oidc-username-prefix",
      type: text,
      default: "",
      doc: "Prefix of user names. If not set, names from claims other than email are prefixed with the issuer's URL; - disables prefixing.",
    }),
    option({
      flag: "oidc-groups-claim",
      type: text,
      default: "",
      doc: "Claim to use as the user's groups, a string or a list of strings. Experimental.",
    }),
    option({
      flag: "oidc-groups-prefix",
      type: text,
      default: "",
      doc: "Prefix of group names.",
    }),
    option({
      flag: "oidc-required-claim",
      type: mapOf(text, { single: true }),
      default: {},
      doc: "Claims that a token must contain with these values, as key=value. May be repeated.",
    }),
    option({
      flag: "oidc-signing-algs",
      type: listOf(oneOf(...signingAlgorithms)),
      default: ["RS256"],
      doc: `Accepted signing algorithms: ${signingAlgorithms.join(", ")}.`,
    }),
    option({
      flag: "requestheader-client-ca-file",
      type: file,
      default: "",
      readable: true,
      doc: "CA bundle that verifies client certificates of proxies before user names in their headers are trusted.",
    }),
    option({
      flag: "requestheader-allowed-names",
      type: strings,
      default: [],
      check: each((value) => (value.trim() === "" ? "must not have an empty name" : undefined)),
      doc: "Common names allowed in the certificates of such proxies. If empty, any name is allowed.",
    }),
    option({
      flag: "requestheader-username-headers",
      type: strings,
      default: [],
      check: each(headerName),
      doc: "Headers to check for the user name; X-Remote-User is common.",
    }),
    option({
      flag: "requestheader-group-headers",
      type: strings,
      default: [],
      check: each(headerName),
      doc: "Headers to check for groups; X-Remote-Group is common.",
    }),
    option({
      flag: "requestheader-extra-headers-prefix",
      type: strings,
      default: [],
      check: each(headerName),
      doc: "Prefixes of headers with extra attributes of the user; X-Remote-Extra- is common.",
    }),
  ]);

/**
 * The bounds of --service-account-max-token-expiration: one hour, and the longest duration a token can
 * express.
 */
const minExpirationMilliseconds = 3_600_000;
const maxExpirationMilliseconds = 2 ** 32 * 1000;

export const serviceAccountSection = () =>
  section("Service account tokens", [
    option({
      flag: "service-account-issuer",
      type: repeated(text),
      default: [],
      check: each(issuerProblem),
      doc: "Issuer of service account tokens, asserted in their iss claim. Should be an https URL, so that discovery works. If repeated, the first one issues tokens and all are accepted.",
    }),
    option({
      flag: "service-account-jwks-uri",
      type: url("https"),
      default: "",
      doc: "URL of the JSON Web Key Set in the discovery document, if not the default one.",
    }),
    option({
      flag: "service-account-key-file",
      type: repeated(file),
      default: [],
      defaultText: "--tls-private-key-file",
      readable: true,
      derive: (look) =>
        look.isSet("tlsPrivateKeyFile") && !look.isSet("serviceAccountSigningKeyFile")
          ? { value: [look.value("tlsPrivateKeyFile") as string], from: "--tls-private-key-file" }
          : undefined,
      doc: "PEM file with RSA or ECDSA keys that verify service account tokens. May be repeated. Required with --service-account-signing-key-file.",
    }),
    option({
      flag: "service-account-signing-key-file",
      type: file,
      default: "",
      readable: true,
      doc: "PEM file with the private key that signs service account tokens.",
    }),
    option({
      flag: "service-account-lookup",
      type: bool,
      default: true,
      doc: "Verify on each use of a token that it still exists in the store.",
    }),
    option({
      flag: "service-account-max-token-expiration",
      type: duration,
      default: 0,
      check: (value) =>
        value !== 0 && (value < minExpirationMilliseconds || value > maxExpirationMilliseconds)
          ? "must be from 1h to 2^32 seconds"
          : undefined,
      doc: "Maximum validity of an issued token; a longer requested one is reduced to it.",
    }),
    option({
      flag: "service-account-extend-token-expiration",
      type: bool,
      default: true,
      doc: "Extend the expiration of tokens that admission adds to pods to up to a year, regardless of the maximum validity.",
    }),
  ]);

function issuerProblem(issuer: string): string | undefined {
  if (issuer === "") return "must not be empty";
  if (issuer.includes(":") && !URL.canParse(issuer)) return "must be a URL when it holds a colon";
  return undefined;
}
