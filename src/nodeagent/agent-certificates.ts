// Builds the agent's API server client from its settings: from an existing client configuration, from one
// obtained by bootstrapping, and optionally with a rotated client certificate.
import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { ApiError, type Clock, type Log, type Metrics, writePrivate } from "#base";
import {
  type ApiClient,
  type ConnectionSecrets,
  type HttpsTransport,
  apiClient,
  connectionOf,
  credentialProgramMetrics,
  https,
  readClientConfig,
} from "#client";
import type { Dialect } from "#dialect";
import { apiTransport } from "./api-transport.ts";
import {
  type StoredCertificate,
  certificateFiles,
  storedCertificate,
} from "./certificates/certificate-files.ts";
import { writeClientConfig } from "./certificates/client-config-text.ts";
import { certificateRotation, newKey } from "./certificates/rotation.ts";
import { RequestDenied, requestCertificate, requestName } from "./certificates/signing-request.ts";
import { clientTemplate } from "./certificates/templates.ts";
import type { NodeagentSettings } from "./options/options.ts";

export interface AccessParts {
  readonly settings: NodeagentSettings;
  readonly dialect: Dialect;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly nodeName: string;
}

export interface ApiAccess {
  /** Undefined without an API server. */
  readonly client: ApiClient | undefined;
  /** Rotates the client certificate if rotation is enabled. */
  run(signal: AbortSignal): Promise<void>;
}

const standalone: ApiAccess = { client: undefined, run: () => Promise.resolve() };
const bootstrapTimeoutMilliseconds = 3_600_000;
const retryMilliseconds = 2000;

/** Returns the API client; if the agent must bootstrap, waits for the first client certificate. */
export async function apiAccess(parts: AccessParts, signal: AbortSignal): Promise<ApiAccess> {
  const { settings, clock } = parts;
  const { orchconfig: path, bootstrapOrchconfig: bootstrap } = settings;
  if (!path) return standalone;
  credentialProgramMetrics(parts.metrics);
  if (!settings.rotateCertificates) {
    if (bootstrap && !isUsable(path, clock.now())) await bootstrapOnce(parts, signal);
    return { client: connect(parts, path).client, run: () => Promise.resolve() };
  }
  return await rotating(parts, bootstrap);
}

async function rotating(parts: AccessParts, bootstrap: string): Promise<ApiAccess> {
  const { settings, dialect, clock, log, metrics, nodeName } = parts;
  const { orchconfig: path } = settings;
  const files = certificateFiles(settings.certDir, `${dialect.cli.agent}-client`, () => clock.now());
  if (bootstrap && !isUsable(path, clock.now()))
    writeClientConfig(path, readClientConfig(bootstrap), files.current);
  let current = files.read() ?? referencedCertificate(path);
  let rotateNow = false;
  const embedded = current ? undefined : embeddedCertificate(path);
  if (embedded) {
    current = await files.write(embedded.certificate, embedded.key);
    rotateNow = true;
  }
  const regularConnection = connect(
    parts,
    path,
    () => current && { certificate: current.pem, key: current.pem },
  );
  let initialConnection: Connected | undefined;
  // Read only when it is needed: installers remove the bootstrap configuration after its use.
  const initialClient = (): ApiClient =>
    bootstrap ? (initialConnection ??= connectUnlimited(parts, bootstrap)).client : regularConnection.client;
  const prefix = dialect.data.agentMetricPrefix;
  const ttl = metrics
    .gauge({
      name: `${prefix}certificate_manager_client_ttl_seconds`,
      help: "Time in seconds until the client certificate expires.",
      stability: "ALPHA",
    })
    .with();
  metrics.beforeScrape(() => ttl.set(current ? (current.notAfter - clock.now()) / 1000 : Infinity));
  const errors = metrics
    .counter({
      name: `${prefix}certificate_manager_client_expiration_renew_errors`,
      help: "Number of failed client certificate renewals.",
      stability: "ALPHA",
    })
    .with();
  const template = clientTemplate(nodeName, dialect);
  return {
    client: regularConnection.client,
    run: (signal) =>
      certificateRotation(
        {
          clock,
          log,
          files,
          client: () =>
            current && current.notAfter > clock.now() ? regularConnection.client : initialClient(),
          template: () => template,
          initial: current,
          rotateNow,
          onFailure: () => errors.add(),
          onCertificate: (certificate) => {
            current = certificate;
            // New connections present the new certificate.
            regularConnection.transport.renew();
          },
        },
        signal,
        // An open connection would keep the process alive.
      ).finally(() => initialConnection?.transport.close()),
  };
}

/**
 * Requests a client certificate with the bootstrap credentials. The name of the signing request is derived
 * from the key, so that a restarted agent finds its earlier request.
 */
async function bootstrapOnce(parts: AccessParts, signal: AbortSignal): Promise<void> {
  const { settings, dialect, clock, log, nodeName } = parts;
  const agent = dialect.cli.agent;
  const keyFile = join(settings.certDir, `${agent}-client.key.tmp`);
  const savedKey = await readFile(keyFile, "utf8")
    .then(createPrivateKey)
    .catch(() => undefined);
  const key = savedKey ?? newKey();
  // A key cut off by a crash is replaced: it was never used.
  if (!savedKey) writePrivate(keyFile, key.export({ type: "sec1", format: "pem" }).toString());
  const template = clientTemplate(nodeName, dialect);
  const { client, transport } = connectUnlimited(parts, settings.bootstrapOrchconfig);
  const options = { client, clock, template, key, name: requestName(key, template) };
  const end = clock.monotonic() + bootstrapTimeoutMilliseconds;
  log.info("requesting a client certificate", { request: options.name });
  for (;;) {
    try {
      const waitMilliseconds = Math.max(0, end - clock.monotonic());
      const certificate = await requestCertificate({ ...options, waitMilliseconds }, signal);
      const files = certificateFiles(settings.certDir, `${agent}-client`, () => clock.now());
      await files.write(certificate, key);
      writeClientConfig(settings.orchconfig, readClientConfig(settings.bootstrapOrchconfig), files.current);
      await rm(keyFile, { force: true });
      transport.close();
      return;
    } catch (error) {
      const isFinal = error instanceof RequestDenied || (error instanceof ApiError && error.code < 500);
      if (signal.aborted || isFinal || clock.monotonic() >= end) throw error;
      log.warn("the client certificate could not be requested yet; retrying", {
        error: (error as Error).message,
      });
      await clock.sleep(retryMilliseconds, signal);
    }
  }
}

interface Connected {
  readonly client: ApiClient;
  readonly transport: HttpsTransport;
}

/** `certificate` overrides the client certificate in the configuration file. */
function connect(
  { settings, dialect, version, clock, metrics }: AccessParts,
  path: string,
  certificate?: () => ConnectionSecrets | undefined,
): Connected {
  const { transport, host } = transportFor(dialect, version, path, certificate);
  const limits = { perSecond: settings.orchApiQps, burst: settings.orchApiBurst };
  const limited = apiTransport(transport, { clock, metrics, host, ...limits });
  const isBinary = settings.orchApiContentType === dialect.wire.protobufMediaType;
  return { client: apiClient(limited, dialect, isBinary ? "protobuf" : "json"), transport };
}

/** A client used only to request the first certificate: neither rate-limited nor measured. */
function connectUnlimited({ dialect, version }: AccessParts, path: string): Connected {
  const { transport } = transportFor(dialect, version, path);
  return { client: apiClient(transport, dialect, "json"), transport };
}

function transportFor(
  dialect: Dialect,
  version: string,
  path: string,
  certificate?: () => ConnectionSecrets | undefined,
): { readonly transport: HttpsTransport; readonly host: string } {
  const connection = connectionOf(readClientConfig(path), undefined, certificate);
  const transport = https({ ...connection, userAgent: `${dialect.cli.agent}/${version}` });
  return { transport, host: new URL(connection.server).host };
}

/** Reports whether a client configuration exists and its certificate, if any, has not expired. */
function isUsable(path: string, now: number): boolean {
  try {
    const { secrets } = connectionOf(readClientConfig(path));
    const { certificate } = secrets?.() ?? {};
    return !certificate || new X509Certificate(certificate).validToDate.getTime() > now;
  } catch {
    return false;
  }
}

const userOf = (path: string) => {
  const config = readClientConfig(path);
  const context = config.contexts.find(({ name }) => name === config["current-context"])?.context;
  return config.users.find(({ name }) => name === context?.user)?.user;
};

/** Returns the certificate in the files referenced by the client configuration. */
function referencedCertificate(path: string): StoredCertificate | undefined {
  const user = userOf(path);
  const { "client-certificate": certificate, "client-key": key } = user ?? {};
  if (!certificate || !key) return undefined;
  try {
    const text = readFileSync(certificate, "utf8");
    return storedCertificate(certificate === key ? text : `${text}\n${readFileSync(key, "utf8")}`);
  } catch {
    return undefined;
  }
}

function embeddedCertificate(
  path: string,
): { readonly certificate: string; readonly key: string } | undefined {
  const { "client-certificate-data": certificate, "client-key-data": key } = userOf(path) ?? {};
  if (!certificate || !key) return undefined;
  return {
    certificate: Buffer.from(certificate, "base64").toString(),
    key: Buffer.from(key, "base64").toString(),
  };
}
