// Templates of a node's client and serving certificates.
import type { Dialect } from "#dialect";
import type { CertificateTemplate } from "./signing-request.ts";

export const clientTemplate = (nodeName: string, { names }: Dialect): CertificateTemplate => ({
  commonName: `system:node:${nodeName}`,
  organizations: ["system:nodes"],
  signerName: names.signers.agentClient,
  usages: ["digital signature", "client auth"],
  names: [],
});

export const servingTemplate = (
  nodeName: string,
  { names }: Dialect,
  alternatives: readonly string[],
): CertificateTemplate => ({
  commonName: `system:node:${nodeName}`,
  organizations: ["system:nodes"],
  signerName: names.signers.agentServing,
  usages: ["digital signature", "server auth"],
  names: alternatives,
});
