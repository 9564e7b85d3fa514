// The agent's own servers, and who may use them.

import type { Dialect } from "#dialect";
import { between, bool, cipherSuiteNames, duration, file, fileOption, int32, ip, listOf, notNegative, oneOf, option, section, tlsVersion } from "#options";
import { inFile, later } from "./later.ts";

export const servingSection = (dialect: Dialect) => {
  const moved = <const C extends string>(config: C) => ({ config, deprecated: inFile(config, dialect) });
  return section("Serving and TLS", [
    option({ flag: "address", ...moved("address"), type: ip, default: "0.0.0.0", doc: "Address to serve on; 0.0.0.0 or :: is all interfaces and families." }),
    option({ flag: "port", ...moved("port"), type: int32, default: 10250, check: between(1, 65535), doc: "Port to serve on." }),
    option({ flag: "enable-server", ...moved("enableServer"), type: bool, default: true, doc: "Serve at all. The read-only port has its own setting." }),
    option({
      flag: "read-only-port",
      ...moved("readOnlyPort"),
      type: int32,
      default: 0,
      legacyDefault: 10255,
      check: between(0, 65535),
      doc: "Port that serves reads without authentication; 0 is none.",
    }),
    option({ flag: "healthz-bind-address", ...moved("healthzBindAddress"), type: ip, default: "127.0.0.1", doc: "Address of the health endpoint." }),
    option({ flag: "healthz-port", ...moved("healthzPort"), type: int32, default: 10248, check: between(0, 65535), doc: "Port of the local health endpoint; 0 is none." }),
    option({
      flag: "enable-debugging-handlers",
      ...moved("enableDebuggingHandlers"),
      type: bool,
      default: true,
      doc: "Serve logs and the running of commands in containers: exec, attach, port-forward.",
    }),
    option({
      flag: "contention-profiling",
      notYet: later.profiling,
      ...moved("enableContentionProfiling"),
      type: bool,
      default: false,
      doc: "Profile blocking too, when the debugging handlers are on.",
    }),
    fileOption({ config: "enableSystemLogHandler", type: bool, default: true, doc: "Serve the host's logs under /logs/." }),
    fileOption({
      config: "enableSystemLogQuery",
      notYet: later.logQuery,
      type: bool,
      default: false,
      gate: "NodeLogQuery",
      doc: "Answer queries on the host's logs; needs enableSystemLogHandler.",
    }),
    fileOption({ config: "enableProfilingHandler", type: bool, default: true, doc: "Serve profiling under /debug/pprof/." }),
    fileOption({ config: "enableDebugFlagsHandler", type: bool, default: true, doc: "Serve the log verbosity under /debug/flags/v." }),
    option({
      flag: "tls-cert-file",
      ...moved("tlsCertFile"),
      type: file,
      default: "",
      readable: true,
      doc: "Certificate for HTTPS, intermediates after it. Without it and its key a self-signed pair for the public address is made and kept in --cert-dir.",
    }),
    option({ flag: "tls-private-key-file", ...moved("tlsPrivateKeyFile"), type: file, default: "", readable: true, doc: "Private key that belongs to --tls-cert-file." }),
    option({
      flag: "tls-min-version",
      ...moved("tlsMinVersion"),
      type: tlsVersion,
      default: "",
      doc: "Oldest TLS version to accept: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13.",
    }),
    option({
      flag: "tls-cipher-suites",
      ...moved("tlsCipherSuites"),
      type: listOf(oneOf(...cipherSuiteNames)),
      default: [],
      defaultText: "the runtime's own choice",
      doc: "Cipher suites that may be used. Those of TLS 1.3 are always on.",
    }),
    option({
      flag: "rotate-certificates",
      ...moved("rotateCertificates"),
      type: bool,
      default: false,
      notYet: later.certificates,
      doc: "Ask for a new client certificate before the old one expires.",
    }),
    option({
      flag: "rotate-server-certificates",
      ...moved("serverTLSBootstrap"),
      type: bool,
      default: false,
      gate: "RotateNodeAgentServerCertificate",
      notYet: later.certificates,
      doc: "Beta. Ask for the serving certificate, and a new one before it expires, instead of signing it oneself. Someone must approve the requests.",
    }),
    option({
      flag: "streaming-connection-idle-timeout",
      ...moved("streamingConnectionIdleTimeout"),
      type: duration,
      default: 14_400_000,
      check: notNegative,
      doc: "How long a streaming connection may be idle; 0 is no limit. None lasts longer than 4 hours.",
    }),
  ]);
};

export const authenticationSection = (dialect: Dialect) => {
  const moved = <const C extends string>(config: C) => ({ config, deprecated: inFile(config, dialect) });
  return section("Authentication and authorization", [
    option({
      flag: "anonymous-auth",
      ...moved("authentication.anonymous.enabled"),
      type: bool,
      default: false,
      legacyDefault: true,
      doc: "Let requests in that no method rejects or recognizes, as user system:anonymous of group system:unauthenticated.",
    }),
    option({
      flag: "client-ca-file",
      ...moved("authentication.x509.clientCAFile"),
      type: file,
      default: "",
      readable: true,
      doc: "Certificate authorities of clients: the user is the certificate's CommonName, the groups are its Organizations.",
    }),
    option({
      flag: "authentication-token-webhook",
      ...moved("authentication.webhook.enabled"),
      type: bool,
      default: true,
      legacyDefault: false,
      doc: "Ask the API server's TokenReview about bearer tokens.",
    }),
    option({
      flag: "authentication-token-webhook-cache-ttl",
      ...moved("authentication.webhook.cacheTTL"),
      type: duration,
      default: 120_000,
      check: notNegative,
      doc: "How long its answers are kept.",
    }),
    option({
      flag: "authorization-mode",
      ...moved("authorization.mode"),
      type: oneOf("AlwaysAllow", "Webhook"),
      default: "Webhook",
      legacyDefault: "AlwaysAllow",
      doc: "AlwaysAllow, or Webhook, which asks the API server's SubjectAccessReview.",
    }),
    option({
      flag: "authorization-webhook-cache-authorized-ttl",
      ...moved("authorization.webhook.cacheAuthorizedTTL"),
      type: duration,
      default: 300_000,
      check: notNegative,
      doc: "How long its answer 'authorized' is kept.",
    }),
    option({
      flag: "authorization-webhook-cache-unauthorized-ttl",
      ...moved("authorization.webhook.cacheUnauthorizedTTL"),
      type: duration,
      default: 30_000,
      check: notNegative,
      doc: "How long its answer 'unauthorized' is kept.",
    }),
  ]);
};
