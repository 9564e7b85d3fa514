// Validates the files that settings name before the server starts; their errors are reported like those of
// other settings.
import { readFileSync } from "node:fs";
import { parsePolicy, readPolicyFile } from "#audit";
import { certificatesOf, parseAuthenticationConfig, signingKey, tokenFile, verificationKeys } from "#authn";
import { abacAuthorizer } from "#authz";
import type { Dialect } from "#dialect";
import { modesOf } from "../authorization/modes.ts";
import type { ApiserverSettings } from "../options/settings.ts";
import { parseEncryptionConfig, readEncryptionFile } from "../storage/encryption-config.ts";
import { readPair } from "./certificates.ts";
import { readEgress } from "./egress.ts";

/** Returns one sentence for each unusable file, beginning with its flag. */
export function fileProblems(settings: ApiserverSettings, dialect: Dialect): string[] {
  const problems: string[] = [];
  const check = (flag: string, read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      problems.push(`--${dialect.spelling.flag(flag)}: ${(error as Error).message}`);
    }
  };
  const bundle = (flag: string, file: string): void => {
    if (file) check(flag, () => certificatesOf(readFileSync(file, "utf8"), file));
  };
  const pair = (flag: string, certFile: string, keyFile: string): void => {
    if (certFile && keyFile) check(flag, () => readPair({ certFile, keyFile }));
  };
  pair("tls-cert-file", settings.tlsCertFile, settings.tlsPrivateKeyFile);
  for (const { certFile, keyFile } of settings.tlsSniCertKey) pair("tls-sni-cert-key", certFile, keyFile);
  bundle("client-ca-file", settings.clientCaFile);
  bundle("requestheader-client-ca-file", settings.requestheaderClientCaFile);
  if (settings.tokenAuthFile) check("token-auth-file", () => tokenFile(settings.tokenAuthFile));
  if (settings.serviceAccountSigningKeyFile)
    check("service-account-signing-key-file", () => signingKey(settings.serviceAccountSigningKeyFile));
  if (settings.serviceAccountKeyFile.length > 0)
    check("service-account-key-file", () => verificationKeys(settings.serviceAccountKeyFile));
  const { authenticationConfig, serviceAccountIssuer } = settings;
  if (authenticationConfig)
    check("authentication-config", () =>
      parseAuthenticationConfig(
        readFileSync(authenticationConfig, "utf8"),
        authenticationConfig,
        dialect,
        serviceAccountIssuer,
      ),
    );
  if (settings.authorizationConfig) check("authorization-config", () => modesOf(settings, dialect));
  if (settings.authorizationPolicyFile)
    check("authorization-policy-file", () => abacAuthorizer(settings.authorizationPolicyFile, dialect));
  bundle("store-cafile", settings.storeCafile);
  pair("store-certfile", settings.storeCertfile, settings.storeKeyfile);
  bundle("nodeagent-certificate-authority", settings.nodeagentCertificateAuthority);
  pair("nodeagent-client-certificate", settings.nodeagentClientCertificate, settings.nodeagentClientKey);
  const encryption = settings.encryptionProviderConfig;
  if (encryption)
    check("encryption-provider-config", () =>
      parseEncryptionConfig(readEncryptionFile(encryption), {
        file: encryption,
        dialect,
        reload: settings.encryptionProviderConfigAutomaticReload,
      }),
    );
  const egress = settings.egressSelectorConfigFile;
  if (egress) check("egress-selector-config-file", () => readEgress(egress, dialect));
  const policy = settings.auditPolicyFile;
  if (policy) check("audit-policy-file", () => parsePolicy(readPolicyFile(policy), policy, dialect));
  return problems;
}
