// A small identity provider on loopback: a discovery document, keys that can be rotated, and signed tokens.
import { type KeyObject, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, signServing } from "#authn";

export interface Issuer {
  /** The issuer URL in tokens, where its discovery document is served. */
  readonly url: string;
  /** PEM text of the authority that signed the issuer's certificate. */
  readonly ca: string;
  /** Requested paths, in order. */
  readonly requests: readonly string[];
  /** Returns a token signed with the current key; `header` overrides header fields. */
  token(claims: object, header?: object): string;
  /** Replaces the key; without a new id, the key id stays the same. */
  rotate(kid?: string): void;
  stop(): Promise<void>;
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export async function startIssuer(): Promise<Issuer> {
  const validity = { now: Date.now(), days: 1 };
  const authority = createAuthority({ commonName: "issuer-ca" }, validity);
  const serving = signServing(authority, { commonName: "issuer" }, ["127.0.0.1"], validity);
  const newKey = (): { publicKey: KeyObject; privateKey: KeyObject } =>
    generateKeyPairSync("ec", { namedCurve: "P-256" });
  let key = newKey();
  let id = "one";
  const requests: string[] = [];
  const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    requests.push(request.url!);
    const documents: Readonly<Record<string, object>> = {
      "/.well-known/openid-configuration": { issuer: url, jwks_uri: `${url}/keys` },
      "/keys": { keys: [{ ...key.publicKey.export({ format: "jwk" }), kid: id, use: "sig", alg: "ES256" }] },
    };
    const document = documents[request.url!];
    response.writeHead(document ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    ca: authority.certificate,
    requests,
    token: (claims, header = {}) => {
      const signed = `${part({ alg: "ES256", kid: id, ...header })}.${part({ iss: url, ...claims })}`;
      const signature = sign("sha256", Buffer.from(signed), {
        key: key.privateKey,
        dsaEncoding: "ieee-p1363",
      });
      return `${signed}.${signature.toString("base64url")}`;
    },
    rotate: (kid = id) => {
      key = newKey();
      id = kid;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
