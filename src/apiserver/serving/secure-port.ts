// The secure port: its certificates, its public addresses, and its listener.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Audit } from "#audit";
import { selfSigned, servingWithAuthority, isPairKept, writePair } from "#authn";
import { type Clock, type Log, type Metrics, hostAndPort, ipScope, parseIp } from "#base";
import { type Call, type Listener, type Reply, listen } from "#http";
import { tlsSettings } from "#options";
import type { Reloads } from "./reloads.ts";
import type { ApiserverSettings } from "../options/settings.ts";
import type { OneTimeLogin } from "../ui/one-time-login.ts";
import { pageFiles } from "../ui/page-files.ts";
import { auditSignIn } from "../ui/sign-in-audit.ts";
import { type UiOptions, builtPageFolder, withUi } from "../ui/ui-handler.ts";
import { type PairFiles, servingCertificates } from "./certificates.ts";
import { hostAddress } from "./host-address.ts";
import { logCertificates } from "./start-log.ts";

export interface SecurePortOptions {
  readonly settings: ApiserverSettings;
  readonly clock: Clock;
  readonly log: Log;
  readonly handle: (call: Call) => Promise<Reply>;
  /** Supplies a key pair if the settings name no files. */
  readonly pair?: () => { readonly cert: string; readonly key: string };
  readonly metrics: Metrics;
  readonly reloads: Reloads;
  readonly signal: AbortSignal;
  /** One-time login links for the web page; absent if disabled. */
  readonly login?: OneTimeLogin | undefined;
  /** Called when a client opens the page. */
  readonly onPageOpen?: () => void;
  /** Records sign-in attempts; absent if auditing is off. */
  readonly audit?: Audit | undefined;
}

export interface SecurePort {
  readonly listener: Listener;
  readonly certificate: string;
  readonly url: string;
}

export async function openSecurePort({
  settings,
  clock,
  log,
  handle,
  pair,
  metrics,
  reloads,
  signal,
  login,
  onPageOpen: onOpen,
  audit,
}: SecurePortOptions): Promise<SecurePort> {
  const main =
    settings.tlsCertFile !== ""
      ? { certFile: settings.tlsCertFile, keyFile: settings.tlsPrivateKeyFile }
      : (pair?.() ?? (await selfSignedPair(settings, clock)));
  const clientCaFiles = [settings.clientCaFile, settings.requestheaderClientCaFile].filter(
    (file) => file !== "",
  );
  const certificates = servingCertificates(
    { main, named: settings.tlsSniCertKey, clientCaFiles },
    tlsSettings(settings.tlsMinVersion, settings.tlsCipherSuites),
  );
  // Request client certificates only if some could be accepted: browsers prompt their user on such a request.
  const requestCert = clientCaFiles.length > 0;
  const host = settings.bindAddress || "0.0.0.0";
  const handshakeErrors = metrics
    .counter({
      name: "apiserver_tls_handshake_errors_total",
      help: "Number of failed TLS handshakes.",
      stability: "ALPHA",
    })
    .with();
  const recordSignIn = audit && auditSignIn(audit, clock);
  const onSignIn: UiOptions["onSignIn"] = (call, attempt) => {
    const { address } = call.peer;
    if (attempt.user)
      log.info("a user signed in to the web page with a one-time link", { user: attempt.user.name, address });
    else log.warn("a one-time link to the page was refused", { address });
    return recordSignIn?.(call, attempt);
  };
  const listener = await listen({
    host,
    port: settings.securePort,
    tls: { ...certificates.options, requestCert, rejectUnauthorized: false },
    handle: settings.ui
      ? withUi(handle, { files: pageFiles(builtPageFolder()), login, onSignIn, ...(onOpen && { onOpen }) })
      : handle,
    now: () => clock.now(),
    maxStreamsPerConnection: settings.http2MaxStreamsPerConnection,
    http2Implementation: settings.http2Implementation,
    reusePort: settings.permitPortSharing,
    onHandshakeError: () => handshakeErrors.add(),
    onRefused: ({ reason, ...fields }) => log.error(`connections were refused: ${reason}`, { ...fields }),
    onInternalError: (error) =>
      log.error("a connection was lost because of an internal error", {
        error: error.stack ?? error.message,
      }),
  }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(listenErrorText(error, host, settings.securePort), { cause: error });
  });
  const report = reloads.of("--tls-cert-file");
  certificates.follow({
    clock,
    signal,
    changed: (context) => {
      listener.setSecureContext(context);
      report.changed();
    },
    problem: (error) => report.refused(error),
  });
  if (log.enabled(2))
    logCertificates(log, {
      serving: certificates.certificate,
      clientCas: Object.fromEntries(clientCaFiles.map((file) => [file, readFileSync(file, "utf8")])),
      now: clock.now(),
    });
  log.verbose(1, `Serving securely on ${urlOf(listener).slice("https://".length)}`);
  return { listener, certificate: certificates.certificate, url: urlOf(listener) };
}

/** Returns the reason why the port cannot be opened, with the setting to change. */
function listenErrorText({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === "EADDRINUSE") return `--secure-port=${port}: another program listens on this port of ${host}`;
  if (code === "EACCES") return `--secure-port=${port}: this user may not listen on this port`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `--bind-address=${host}: this machine has no such address`;
  return message;
}

function urlOf({ address: { address, port } }: Listener): string {
  const host = address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address;
  return `https://${hostAndPort(host, port)}`;
}

/**
 * Returns a self-signed pair, kept in files across restarts. Others may put their own pair there, as test
 * harnesses do before the first start.
 */
async function selfSignedPair(settings: ApiserverSettings, clock: Clock): Promise<PairFiles> {
  const names = [...new Set([publicAddress(settings), hostname(), "localhost", "127.0.0.1"])];
  const [certFile, keyFile] = [
    join(settings.certDir, "apiserver.crt"),
    join(settings.certDir, "apiserver.key"),
  ];
  const [certificate, key] = [contentOf(certFile), contentOf(keyFile)];
  if ((certificate === undefined) !== (key === undefined)) {
    const missing = certificate === undefined ? certFile : keyFile;
    throw new Error(`--cert-dir: ${missing} cannot be read: certificate and key must be supplied as a pair`);
  }
  if (certificate !== undefined && key !== undefined)
    if (isPairKept({ certificate, key }, names, clock.now(), 24 * 3600 * 1000)) return { certFile, keyFile };
  const stamp = `${Math.trunc(clock.now() / 1000)}`;
  const validity = { now: clock.now(), days: 365 };
  // Elliptic curve keys are fast to generate and work for every client unless RSA cipher suites are
  // configured.
  const made = settings.tlsCipherSuites.some((suite) => suite.includes("_RSA_"))
    ? await servingWithAuthority(names[0]!, stamp, names, validity)
    : selfSigned({ commonName: `${names[0]}@${stamp}` }, names, validity);
  writePair(made, certFile, keyFile);
  return { certFile, keyFile };
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Returns the address at which other members of the cluster reach this server. */
export function publicAddress(settings: ApiserverSettings): string {
  for (const given of [settings.advertiseAddress, settings.bindAddress]) {
    const scope = given === "" ? "unspecified" : ipScope(parseIp(given)!);
    if (scope !== "unspecified" && (scope !== "loopback" || given === settings.advertiseAddress))
      return given;
  }
  const prefer = settings.bindAddress.includes(":") ? "IPv6" : "IPv4";
  return hostAddress(prefer) ?? (settings.bindAddress === "::1" ? "::1" : "127.0.0.1");
}

/** Returns the host and port used in published URLs. */
export function externalAddress(settings: ApiserverSettings): string {
  const host = settings.externalHostname || publicAddress(settings);
  return host.includes(":") && !host.startsWith("[")
    ? `[${host}]:${settings.securePort}`
    : `${host}:${settings.securePort}`;
}
