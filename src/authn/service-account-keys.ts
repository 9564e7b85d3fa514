// Keys of service account tokens from PEM files: RSA or elliptic curve, public or private, one or more per
// file.

import { type KeyObject, createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { pemBlocks } from "#base";

export type TokenAlgorithm = "RS256" | "ES256" | "ES384" | "ES512";

export interface TokenKey {
  /** Hash of the public key; only used by relying parties to select the key. */
  readonly id: string;
  readonly algorithm: TokenAlgorithm;
  readonly key: KeyObject;
}

const curves: Readonly<Record<string, TokenAlgorithm>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/** Returns the signing key: the first private key of the file. */
export function signingKey(file: string): TokenKey {
  const found = pemBlocks(readFileSync(file, "utf8")).find(({ type }) => type.endsWith("PRIVATE KEY"));
  if (!found)
    throw new Error(`${file}: no private key found (expected PEM text with an RSA or ECDSA private key)`);
  return signingKeyOf(found.text, file);
}

export function signingKeyOf(pem: string, source: string): TokenKey {
  return tokenKey(
    read(() => createPrivateKey(pem), source),
    source,
  );
}

/** Returns all keys in the files for verifying tokens; a private key counts as its public half. */
export const verificationKeys = (files: readonly string[]): TokenKey[] =>
  files.flatMap((file) => verificationKeysOf(readFileSync(file, "utf8"), file));

export function verificationKeysOf(pem: string, source: string): TokenKey[] {
  const usable = pemBlocks(pem).filter(
    ({ type }) => type === "CERTIFICATE" || type.endsWith("PUBLIC KEY") || type.endsWith("PRIVATE KEY"),
  );
  if (!usable.length) throw new Error(`${source}: no key found (expected PEM text with an RSA or ECDSA key)`);
  return usable.map(({ text }) =>
    tokenKey(
      read(() => createPublicKey(text), source),
      source,
    ),
  );
}

/** Returns the public half of a key. */
export const publicKeyOf = (key: TokenKey): TokenKey =>
  key.key.type === "public" ? key : { ...key, key: createPublicKey(key.key) };

function tokenKey(key: KeyObject, source: string): TokenKey {
  const curve = key.asymmetricKeyDetails?.namedCurve ?? "";
  const algorithm = key.asymmetricKeyType === "rsa" ? "RS256" : curves[curve];
  if (!algorithm)
    throw new Error(
      `${source}: a key of type ${key.asymmetricKeyType}${curve && ` on curve ${curve}`} cannot sign tokens; use RSA, P-256, P-384 or P-521`,
    );
  const publicBytes = (key.type === "public" ? key : createPublicKey(key)).export({
    type: "spki",
    format: "der",
  });
  return { id: createHash("sha256").update(publicBytes).digest("base64url"), algorithm, key };
}

function read(make: () => KeyObject, source: string): KeyObject {
  try {
    return make();
  } catch (error) {
    throw new Error(`${source}: the key cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
