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
      doc: "Address of the secure port. Blank, 0.0.0.0 or :: listens on all interfaces.",
    }),
    option({
      flag: "advertise-address",
      type: requiredIp,
      default: "",
      doc: "Address told to the members of the cluster, who must reach it. Blank takes the bind address or, when that is unspecified, the address of the host's default interface.",
    }),
    option({
      flag: "secure-port",
      type: int,
      default: 6443,
      check: between(1, 65535),
      doc: "Port of HTTPS with authentication and authorization. It cannot be switched off.",
    }),
    option({
      flag: "external-hostname",
      type: text,
      default: "",
      doc: "Host name in URLs that are handed out, as in API documents and discovery.",
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
      doc: "Certificate for HTTPS, the authority's certificate, if any, after the server's. Without it and --tls-private-key-file a self-signed pair for the public address is made and kept in --cert-dir.",
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
      doc: "A further certificate and key, optionally followed by a colon and the names they are for: host names, names with a leading wildcard, or addresses. Without names those in the certificate count. Exact names win over wildcards, given names over those in the certificate. May be repeated.",
    }),
    option({
      flag: "tls-cipher-suites",
      type: listOf(oneOf(...cipherSuiteNames)),
      default: [],
      defaultText: "the runtime's own choice",
      doc: "Cipher suites that may be used. Those of TLS 1.3 are always on.",
    }),
    option({
      flag: "tls-min-version",
      type: tlsVersion,
      default: "",
      doc: "Oldest TLS version to accept: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13. TLS 1.2 when not given.",
    }),
    option({
      flag: "permit-address-sharing",
      type: bool,
      default: false,
      doc: "Bind with address reuse: a wildcard and specific addresses side by side, and no wait for connections in TIME_WAIT. This runtime always does.",
    }),
    option({
      flag: "permit-port-sharing",
      type: bool,
      default: false,
      doc: "Bind with port reuse, so that several processes serve one address and port.",
    }),
    option({
      flag: "strict-transport-security-directives",
      type: strings,
      default: [],
      check: each(directiveProblem),
      doc: "Directives of the Strict-Transport-Security header: max-age=<seconds>, includeSubDomains, preload. When empty the header is not sent.",
    }),
    option({
      flag: "cors-allowed-origins",
      type: strings,
      default: [],
      check: each(originProblem),
      doc: "Origins that browsers may call from; regular expressions that must match the whole host name. When empty cross-origin calls are off.",
    }),
    option({
      flag: "debug-socket-path",
      type: text,
      default: "",
      doc: "Path of a unix socket that serves profiling, /statusz and /flagz without authentication or authorization.",
    }),
    option({
      flag: "ui",
      type: bool,
      default: true,
      doc: "Serve the web page of events and objects under /ui/, and the API of the event timeline that it reads. The files of the page hold nothing; all it shows comes through the API with the rights of the user who looks.",
    }),
    option({
      flag: "ui-login-file",
      type: text,
      default: "",
      doc: "File through which `orch up` and `orch ui` hand out one-time links to the page: it holds the hash of a code, when the code ends, and for whom it is. When empty there are no such links.",
    }),
    option({ flag: "profiling", type: bool, default: true, doc: "Serve profiling under /debug/pprof/." }),
    option({
      flag: "contention-profiling",
      type: bool,
      default: false,
      doc: "Record delays of the event loop too, when profiling is on: /debug/pprof/block.",
    }),
  ]);
