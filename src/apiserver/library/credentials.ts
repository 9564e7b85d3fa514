// The credentials and keys of a server used as a library, generated at every start and kept in memory only.
import { generateKeyPairSync, randomBytes, timingSafeEqual } from "node:crypto";
import { type TokenMethod, mastersGroup, selfSigned } from "#authn";

export interface OwnCredentials {
  /** The administrator's token. */
  readonly token: string;
  readonly tokens: readonly TokenMethod[];
  /** PEM text of the key that signs service account tokens. */
  readonly serviceAccountKey: string;
  /** Generated on first use: a server without a port needs no certificate. */
  servingPair(now: number): { readonly cert: string; readonly key: string };
}

export function ownCredentials(): OwnCredentials {
  const token = randomBytes(24).toString("base64url");
  const expected = Buffer.from(token);
  const identity = { user: { name: "admin", groups: [mastersGroup] } };
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    token,
    tokens: [{ identify: (given) => (isSame(Buffer.from(given), expected) ? identity : undefined) }],
    serviceAccountKey: privateKey.export({ type: "pkcs8", format: "pem" }),
    servingPair: (now) => {
      const made = selfSigned({ commonName: "127.0.0.1" }, ["127.0.0.1", "localhost", "::1"], {
        now,
        days: 365,
      });
      return { cert: made.certificate, key: made.key };
    },
  };
}

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
