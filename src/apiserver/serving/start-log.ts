// Start-up messages from -v=1 on, worded as in kube-apiserver: the API groups, the admission plug-ins, and
// the serving and client CA certificates.
import { X509Certificate } from "node:crypto";
import type { AdmissionPlugin } from "#admission";
import type { Log } from "#base";
import type { Catalog } from "#endpoints";

/** Logs the API groups that are served. */
export function logGroups(log: Log, catalog: Pick<Catalog, "groups">): void {
  if (!log.enabled(1)) return;
  for (const { name } of catalog.groups()) log.verbose(1, `Enabling API group ${JSON.stringify(name)}.`);
}

/** Logs the plug-ins in their order of execution. */
export function logPlugins(log: Log, plugins: readonly AdmissionPlugin[]): void {
  const logOrder = (kind: string, those: readonly AdmissionPlugin[]): void =>
    log.verbose(
      1,
      `Loaded ${those.length} ${kind} admission controller(s) successfully in the following order: ${those.map(({ name }) => name).join(",")}.`,
    );
  logOrder(
    "mutating",
    plugins.filter(({ mutate }) => mutate !== undefined),
  );
  logOrder(
    "validating",
    plugins.filter(({ validate }) => validate !== undefined),
  );
}

export interface ServedCertificates {
  /** PEM text. */
  readonly serving: string;
  /** PEM texts of client certificate authorities by file. */
  readonly clientCas: Readonly<Record<string, string>>;
  readonly now: number;
}

export function logCertificates(log: Log, { serving, clientCas, now }: ServedCertificates): void {
  for (const [index, [file, text]] of Object.entries(clientCas).entries())
    for (const certificate of certificatesIn(text))
      log.verbose(2, "Loaded client CA", {
        index,
        certName: `client-ca-bundle::${file}`,
        certDetail: certificateDetail(certificate, now),
      });
  for (const certificate of certificatesIn(serving).slice(0, 1))
    log.verbose(2, "Loaded serving cert", {
      certName: "serving-cert",
      certDetail: certificateDetail(certificate, now),
    });
}

const certificatesIn = (text: string): X509Certificate[] =>
  (text.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

const usages: Readonly<Record<string, string>> = {
  "1.3.6.1.5.5.7.3.1": "serving",
  "1.3.6.1.5.5.7.3.2": "client",
};

/** Describes a certificate: its subject, usages and validity. */
export function certificateDetail(certificate: X509Certificate, now: number): string {
  const { subject, issuer, subjectAltName, keyUsage, validFromDate, validToDate } = certificate;
  const name = valuesOf(subject, "CN")[0] ?? "";
  const signer = valuesOf(issuer, "CN")[0] ?? "";
  const purposes = (keyUsage ?? []).map((usage) => usages[usage] ?? usage);
  const groups = valuesOf(subject, "O");
  const names = (subjectAltName ?? "")
    .split(", ")
    .flatMap((each) => each.split(":").slice(1).join(":") || []);
  return [
    `${JSON.stringify(name)} [${purposes.join(",")}]`,
    ...(groups.length > 0 ? [`groups=[${groups.join(",")}]`] : []),
    ...(names.length > 0 ? [`validServingFor=[${names.join(",")}]`] : []),
    `issuer=${JSON.stringify(signer === name ? "<self>" : signer)}`,
    `(${timeText(validFromDate)} to ${timeText(validToDate)} (now=${timeText(new Date(now))}))`,
  ].join(" ");
}

const valuesOf = (distinguishedName: string | undefined, key: string): string[] =>
  (distinguishedName ?? "")
    .split("\n")
    .flatMap((part) => (part.startsWith(`${key}=`) ? [part.slice(key.length + 1)] : []));

const timeText = (date: Date): string =>
  `${date
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "")} +0000 UTC`;
