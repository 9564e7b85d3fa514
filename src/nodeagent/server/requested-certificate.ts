// Requests a serving certificate from the API server: once the node's addresses are known, before it expires,
// and when the addresses change. Until the first one is signed, TLS handshakes fail.
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { NodeAddress } from "#api";
import type { CertificatePair } from "#authn";
import type { Clock, Log, Metrics } from "#base";
import type { ApiClient } from "#client";
import type { Dialect } from "#dialect";
import { certificateFiles } from "../certificates/certificate-files.ts";
import { certificateRotation } from "../certificates/rotation.ts";
import type { CertificateTemplate } from "../certificates/signing-request.ts";

export interface RequestedCertificateOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly dialect: Dialect;
  readonly client: ApiClient;
  readonly folder: string;
  /** Returns the node's addresses from its status. */
  readonly addresses: () => readonly NodeAddress[];
  readonly template: (names: readonly string[]) => CertificateTemplate;
  readonly onPair: (pair: CertificatePair) => void;
}

/** Runs until the signal is aborted. */
export async function requestedCertificate(
  options: RequestedCertificateOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, metrics, dialect, client } = options;
  const files = certificateFiles(options.folder, `${dialect.cli.agent}-server`, () => clock.now());
  const use = (pem: string): void => options.onPair({ certificate: pem, key: pem });
  let current = files.read();
  if (current) use(current.pem);
  const prefix = dialect.data.agentMetricPrefix;
  const ttl = metrics
    .gauge({
      name: `${prefix}certificate_manager_server_ttl_seconds`,
      help: "Time in seconds until the serving certificate expires.",
      stability: "ALPHA",
    })
    .with();
  metrics.beforeScrape(() => ttl.set(current ? (current.notAfter - clock.now()) / 1000 : Infinity));
  const errors = metrics
    .counter({
      name: `${prefix}server_expiration_renew_errors`,
      help: "Number of failed serving certificate renewals.",
      stability: "ALPHA",
    })
    .with();
  const lived = metrics
    .histogram({
      name: `${prefix}certificate_manager_server_rotation_seconds`,
      help: "Lifetime in seconds of a serving certificate before its rotation.",
      stability: "ALPHA",
      buckets: [60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000],
    })
    .with();
  await certificateRotation(
    {
      clock,
      log,
      files,
      client: () => client,
      template: () => {
        const names = servingNames(options.addresses());
        return names.length > 0 ? options.template(names) : undefined;
      },
      isStale: ({ pem }) => {
        const names = servingNames(options.addresses());
        return names.length > 0 && !holdsFor(pem, names);
      },
      initial: current,
      onFailure: () => errors.add(),
      onCertificate: (certificate) => {
        if (current) lived.observe((clock.now() - current.notBefore) / 1000);
        current = certificate;
        use(certificate.pem);
      },
    },
    signal,
  );
}

/** Returns host names, then IP addresses; empty if the node has no IP address other than loopback. */
export function servingNames(addresses: readonly NodeAddress[]): string[] {
  const all = [...new Set(addresses.map(({ address }) => address ?? ""))].filter((one) => one !== "");
  const numbers = all.filter((one) => isIP(one) > 0);
  if (numbers.every((one) => /^127\.|^::1$/.test(one))) return [];
  return [...all.filter((one) => isIP(one) === 0), ...numbers];
}

function holdsFor(pem: string, names: readonly string[]): boolean {
  const certificate = new X509Certificate(pem);
  return names.every((name) =>
    isIP(name) ? certificate.checkIP(name) !== undefined : certificate.checkHost(name) !== undefined,
  );
}
