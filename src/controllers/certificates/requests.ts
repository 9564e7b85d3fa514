// Helpers shared by the certificate controllers: decided requests, and validation for the built-in signers.
import type { CertificateSigningRequest } from "#api";
import { type CertificateRequest, nodesGroup, parseCertificateRequest } from "#authn";
import type { AnyObject } from "#client";
import type { Dialect } from "#dialect";

export type SeenRequest = CertificateSigningRequest & AnyObject;

export const conditionIs = ({ status }: SeenRequest, type: string): boolean =>
  (status.conditions ?? []).some((each) => each.type === type && (each.status ?? "True") === "True");
export const isDecided = (request: SeenRequest): boolean =>
  conditionIs(request, "Approved") || conditionIs(request, "Denied");

export const decoded = ({ spec }: SeenRequest): CertificateRequest =>
  parseCertificateRequest(Buffer.from(spec.request ?? "", "base64").toString());

const isSubset = (usages: readonly string[], allowed: readonly string[]): boolean =>
  usages.every((usage) => allowed.includes(usage));

const nodeUserPrefix = "system:node:";

/** Returns why a request is invalid for a node's client certificate; undefined if it is valid. */
export function nodeClientProblem(
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  if (request.organizations.length !== 1 || request.organizations[0] !== nodesGroup)
    return `subject organization is not ${nodesGroup}`;
  if (request.dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (request.emails.length > 0) return "Email subjectAltNames are not allowed";
  if (request.ipAddresses.length > 0) return "IP subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  return nodeNameProblem(request) ?? usagesProblem(usages, "client auth");
}

/** The same for a node's serving certificate. */
export function nodeServingProblem(
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  if (request.organizations.length !== 1 || request.organizations[0] !== nodesGroup)
    return `subject organization is not ${nodesGroup}`;
  if (request.dnsNames.length + request.ipAddresses.length === 0)
    return "DNS or IP subjectAltName is required";
  if (request.emails.length > 0) return "Email subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  return usagesProblem(usages, "server auth") ?? nodeNameProblem(request);
}

const nodeNameProblem = ({ commonName }: CertificateRequest): string | undefined =>
  commonName.startsWith(nodeUserPrefix)
    ? undefined
    : `subject common name does not begin with ${nodeUserPrefix}`;

function usagesProblem(usages: readonly string[], purpose: string): string | undefined {
  const isAllowed =
    usages.includes(purpose) &&
    usages.includes("digital signature") &&
    isSubset(usages, [purpose, "digital signature", "key encipherment"]);
  const expected = ["digital signature", "key encipherment", purpose].toSorted();
  return isAllowed ? undefined : `usages did not match [${expected.join(" ")}]`;
}

const clientUsages: readonly string[] = ["client auth", "digital signature", "key encipherment"];

/** Returns why the signer rejects the request; undefined if it signs. */
export function signerProblem(
  signer: string,
  request: CertificateRequest,
  usages: readonly string[],
  { names }: Dialect,
): string | undefined {
  const { apiClient, agentClient, agentServing, legacyUnknown } = names.signers;
  if (signer === agentClient) return nodeClientProblem(request, usages);
  if (signer === agentServing) return nodeServingProblem(request, usages);
  if (signer === apiClient) {
    const wrong = usages.find((usage) => !clientUsages.includes(usage));
    if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
    return usages.includes("client auth")
      ? undefined
      : "missing required usage for client certificate: client auth";
  }
  return signer === legacyUnknown ? undefined : `unknown signer ${signer}`;
}
