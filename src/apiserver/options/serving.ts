// Options of serving and TLS.

import type { Dialect } from "#dialect";
import {
  type OptionType,
  Refusal,
  Unparsable,
  bool,
  cipherSuiteNames,
  directory,
  each,
  file,
  int,
  requiredIp,
  listOf,
  oneOf,
  option,
  between,
  repeated,
  section,
  strings,
  text,
  tlsVersion,
} from "#options";

export interface NamedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /**
   * Host names, host names with a wildcard as first label, or IP addresses; empty to use the names in the
   * certificate.
   */
  readonly names: readonly string[];
}

/** `certfile,keyfile[:pattern,…]`. */
const namedCertificate: OptionType<NamedCertificate> = {
  ...({ name: "certfile,keyfile[:pattern,...]" } as const),
  parse: (given) => {
    const cut = given.indexOf(":");
    const files = (cut < 0 ? given : given.slice(0, cut)).split(",").map((part) => part.trim());
    const names = cut < 0 ? [] : given.slice(cut + 1).split(",");
    if (files.length !== 2 || files.includes(""))
      throw new Unparsable("expected comma separated certificate and key file paths");
    for (const name of names) {
      if (!/^(\*\.)?[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$|^[0-9a-fA-F:]+$/.test(name))
        throw new Refusal(
          `${JSON.stringify(name)} must be a host name, one with *. before it, or an IP address`,
        );
    }
    return { certFile: files[0]!, keyFile: files[1]!, names };
  },
  read: (value) => namedCertificate.parse(text.read(value)),
  write: (value) => namedCertificate.format(value),
  format: ({ certFile, keyFile, names }) =>
    `${certFile},${keyFile}${names.length > 0 ? `:${names.join(",")}` : ""}`,
};

/** `max-age=N`, `includeSubDomains`, `preload`. */
export function directiveProblem(directive: string): string | undefined {
  return /^(max-age=[0-9]+|includeSubDomains|preload)$/.test(directive)
    ? undefined
    : "must be max-age=<seconds>, includeSubDomains or preload";
}

export function originProblem(pattern: string): string | undefined {
  if (pattern.length > 1000) return "must have at most 1000 characters";
  try {
    return void new RegExp(pattern);
  } catch {
    return "must be a regular expression";
  }
}

export const servingSection = (dialect: Dialect) =>
  section("Serving and TLS", [
    option({
      flag: "bind-address",
      type: requiredIp,
      default: "0.0.0.0",
      doc: "Address to serve HTTPS on. Empty, 0.0.0.0 or :: means all interfaces.",
    }),
    option({
      flag: "advertise-address",
      type: requiredIp,
      default: "",
      doc: "Address advertised to the members of the cluster, which must be able to reach it. If empty, --bind-address is used or, if that is unspecified, the address of the host's default interface.",
    }),
    option({
      flag: "secure-port",
      type: int,
      default: 6443,
      check: between(1, 65535),
      doc: "Port to serve HTTPS on, with authentication and authorization. It cannot be disabled.",
    }),
    option({
      flag: "external-hostname",
      type: text,
      default: "",
      doc: "Host name used in externally visible URLs, such as those of API documents and discovery.",
    }),
    option({
      flag: "cert-dir",
      type: directory,
      default: dialect.paths.servingCertificates,
      doc: "Directory of TLS certificates. Not used when --tls-cert-file and --tls-private-key-file are given.",
    }),
    option({
      flag: "tls-cert-file",
      type: file,
      default: "",
      readable: true,
      doc: "Certificate for HTTPS, followed by the CA's certificate if there is one. Without it and --tls-private-key-file a self-signed pair for the public address is created and kept in --cert-dir.",
    }),
    option({
      flag: "tls-private-key-file",
      type: file,
      default: "",
      readable: true,
      doc: "Private key that belongs to --tls-cert-file.",
    }),
    option({
      flag: "tls-sni-cert-key",
      type: repeated(namedCertificate, "certfile,keyfile[:pattern,...]"),
      default: [],
      doc: "Additional certificate and key, optionally followed by a colon and the names they are used for: host names, names with a leading wildcard, or IP addresses. Without names, those in the certificate are used. Exact names take precedence over wildcards, and explicit names over those in the certificate. May be repeated.",
    }),
    option({
      flag: "tls-cipher-suites",
      type: listOf(oneOf(...cipherSuiteNames)),
      default: [],
      defaultText: "the runtime's default",
      doc: "Allowed cipher suites. Those of TLS 1.3 are always enabled.",
    }),
    option({
      flag: "tls-min-version",
      type: tlsVersion,
      default: "",
      doc: "Minimum TLS version: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13. TLS 1.2 if not set.",
    }),
    option({
      flag: "permit-address-sharing",
      type: bool,
      default: false,
      doc: "Bind the port with SO_REUSEADDR, which allows binding wildcard and specific addresses in parallel and does not wait for connections in TIME_WAIT. This runtime always sets it.",
    }),
    option({
      flag: "permit-port-sharing",
      type: bool,
      default: false,
      doc: "Bind the port with SO_REUSEPORT, so that several processes can serve the same address and port.",
    }),
    option({
      flag: "strict-transport-security-directives",
      type: strings,
      default: [],
      check: each(directiveProblem),
      doc: "Directives of the Strict-Transport-Security header: max-age=<seconds>, includeSubDomains, preload. If empty, the header is not sent.",
    }),
    option({
      flag: "cors-allowed-origins",
      type: strings,
      default: [],
      check: each(originProblem),
      doc: "Origins allowed for CORS, as regular expressions that must match the whole host name. If empty, CORS is disabled.",
    }),
    option({
      flag: "debug-socket-path",
      type: text,
      default: "",
      doc: "Path of a Unix socket that serves profiling, /statusz and /flagz without authentication or authorization.",
    }),
    option({
      flag: "ui",
      type: bool,
      default: true,
      doc: "Serve the web UI for events and objects under /ui/, and the API of the event timeline that it uses. The static files contain no cluster data; everything shown is read through the API with the permissions of the signed-in user.",
    }),
    option({
      flag: "ui-login-file",
      type: text,
      default: "",
      doc: "File with which `orch up` and `orch ui` issue one-time login links to the web UI. It contains the hash of a code, its expiration time and the user it is for. If empty, login links are disabled.",
    }),
    option({ flag: "profiling", type: bool, default: true, doc: "Serve profiling under /debug/pprof/." }),
    option({
      flag: "contention-profiling",
      type: bool,
      default: false,
      doc: "Also record event loop delays if profiling is enabled: /debug/pprof/block.",
    }),
  ]);
