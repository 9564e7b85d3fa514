// Error texts for failed connections as in Go's network packages, which users and programs that work with
// kube-apiserver recognize.
import type { DialAddress } from "./dial.ts";

const unknownAuthority = "certificate signed by unknown authority";
const verified: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: "certificate has expired or is not yet valid",
  CERT_NOT_YET_VALID: "certificate has expired or is not yet valid",
};
const dialed: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connect: connection refused",
  EHOSTUNREACH: "connect: no route to host",
  ENETUNREACH: "connect: network is unreachable",
  ETIMEDOUT: "i/o timeout",
};

export function connectionErrorText(error: Error, { host, port }: DialAddress): string {
  const code = String((error as NodeJS.ErrnoException).code ?? "");
  if (verified[code] !== undefined) return `tls: failed to verify certificate: x509: ${verified[code]}`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return `tls: failed to verify certificate: x509: ${error.message}`;
  if (dialed[code] !== undefined) return `dial tcp ${host}:${port}: ${dialed[code]}`;
  if (code === "ENOTFOUND") return `dial tcp: lookup ${host}: no such host`;
  const { syscall } = error as NodeJS.ErrnoException;
  if (code === "ECONNRESET" && syscall !== undefined) return `${syscall}: connection reset by peer`;
  // The peer closed the connection instead of responding or completing the handshake.
  if (code === "ECONNRESET") return "EOF";
  return error.message;
}
