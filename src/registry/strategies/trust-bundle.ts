// Cluster trust bundles: CA certificates in PEM. The name of a bundle for a signer starts with the signer's
// name.
import { X509Certificate } from "node:crypto";
import { ClusterTrustBundle } from "#api";
import { certificateExtensions, derItems } from "#authn";
import { type FieldError, invalidValue, pemBlocks } from "#base";
import { type NameRule, dnsSubdomain } from "../names.ts";
import { strategy } from "../strategy.ts";
import { nameColumn } from "./cells/columns.ts";
import { orNone } from "./cells/text.ts";
import { signerErrors } from "./rules/signer-name.ts";
import { unchanged } from "./rules/unchanged.ts";

const basicConstraints = "2.5.29.19";

/** Returns why a PEM block is not a CA certificate. */
function blockProblem(type: string, hasHeaders: boolean, bytes: Buffer): string | undefined {
  if (type !== "CERTIFICATE") return `has bad block type: ${type}`;
  if (hasHeaders) return "has PEM block headers";
  try {
    // OpenSSL ignores trailing bytes after the certificate.
    if (derItems(bytes).length !== 1) return "does not parse as X.509";
    return isAuthority(new X509Certificate(bytes)) ? undefined : "does not have the CA bit set";
  } catch {
    return "does not parse as X.509";
  }
}

/** Checks the CA bit alone; `ca` of the runtime also considers the key usage. */
function isAuthority({ raw }: X509Certificate): boolean {
  const found = certificateExtensions(raw).find(({ oid }) => oid === basicConstraints);
  if (!found) return false;
  const [first] = derItems(derItems(found.value)[0]?.content ?? new Uint8Array());
  return first?.tag === 0x01 && first.content[0] !== 0;
}

function anchorErrors(pem: string): FieldError[] {
  const wrong = (detail: string): FieldError => invalidValue("spec.trustBundle", "<value omitted>", detail);
  const positions = new Map<string, number[]>();
  const errors = pemBlocks(pem).flatMap(({ type, hasHeaders, bytes }, position) => {
    const problem = blockProblem(type, hasHeaders, bytes);
    if (problem !== undefined) return [wrong(`entry ${position} ${problem}`)];
    const key = bytes.toString("base64");
    positions.set(key, [...(positions.get(key) ?? []), position]);
    return [];
  });
  if (errors.length > 0) return errors;
  if (positions.size === 0) return [wrong("at least one trust anchor must be provided")];
  return [...positions.values()]
    .filter(({ length }) => length > 1)
    .map((same) => wrong(`duplicate trust anchor (indices [${same.join(" ")}])`));
}

/**
 * Names for the signer `example.com/signer` start with `example.com:signer:`; without a signer they contain
 * no colon.
 */
function nameRule(signer: string): NameRule {
  if (signer === "")
    return (name, prefix) =>
      name.includes(":")
        ? ['ClusterTrustBundle without signer name must not have ":" in its name']
        : dnsSubdomain(name, prefix);
  const begin = `${signer.replaceAll("/", ":")}:`;
  return (name, prefix) =>
    name.startsWith(begin)
      ? dnsSubdomain(name.slice(begin.length), prefix)
      : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${begin}`];
}

const signerOf = ({ spec }: ClusterTrustBundle): string => spec.signerName ?? "";
const signerNameErrors = (bundle: ClusterTrustBundle): FieldError[] =>
  signerOf(bundle) === "" ? [] : signerErrors(signerOf(bundle), "spec.signerName");

export const clusterTrustBundle = strategy<ClusterTrustBundle>({
  resource: "clustertrustbundles",
  singular: "clustertrustbundle",
  scope: "Cluster",
  hub: ClusterTrustBundle,
  gate: "ClusterTrustBundle",
  onlyIfServed: true,
  metaChecks: { asNew: 1 },
  conditionalUpdate: true,
  nameRule: (obj) => nameRule(signerOf(obj)),
  validate: (obj) => [...signerNameErrors(obj), ...anchorErrors(obj.spec.trustBundle)],
  // Unchanged anchors are not validated again, so that unrelated fields can be updated.
  validateUpdate: (obj, old) => [
    ...signerNameErrors(obj),
    ...(obj.spec.trustBundle === old.spec.trustBundle ? [] : anchorErrors(obj.spec.trustBundle)),
    ...unchanged(signerOf(obj), signerOf(old), "spec.signerName"),
  ],
  fields: (obj) => ({ "spec.signerName": signerOf(obj) }),
  fieldAliases: { certificates: { "spec.signerName": "spec.signerName" } },
  columns: [
    nameColumn,
    {
      name: "SignerName",
      type: "string",
      doc: "Signer whose certificates the bundle verifies.",
      cell: (obj: ClusterTrustBundle) => orNone(signerOf(obj)),
    },
  ],
});
