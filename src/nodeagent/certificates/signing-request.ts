// Asks the API server for a certificate and waits until it is signed, denied, or the time is over.
import { type KeyObject, createHash, createPublicKey } from "node:crypto";
import { createCertificateRequest } from "#authn";
import { ApiError, type Clock } from "#base";
import { type ApiClient, kinds } from "#client";

export interface CertificateTemplate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly signerName: string;
  readonly usages: readonly string[];
  /** Host names and addresses. */
  readonly names: readonly string[];
}

export interface SigningOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly template: CertificateTemplate;
  readonly key: KeyObject;
  /** A name of the request; else the server makes one. */
  readonly name?: string;
  readonly waitMilliseconds: number;
}

/** Somebody said no. */
export class RequestDenied extends Error {
  override readonly name = "RequestDenied";
}

const lookMilliseconds = 1000;

/** The certificate chain as PEM text. */
export async function requestCertificate(options: SigningOptions, signal: AbortSignal): Promise<string> {
  const { client, clock, template, key, name } = options;
  const request = createCertificateRequest(
    { commonName: template.commonName, organizations: [...template.organizations] },
    template.names,
    key,
  );
  const requests = client.of(kinds.certificateSigningRequests);
  const object = {
    metadata: name === undefined ? { generateName: "csr-" } : { name },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: template.signerName,
      usages: [...template.usages],
    },
  };
  let made: { readonly metadata: { readonly name?: string | undefined } };
  try {
    made = await requests.create(object);
  } catch (error) {
    // A request of this name is an earlier one of ours: it is of the same key.
    if (name === undefined || !(error instanceof ApiError) || error.reason !== "AlreadyExists") throw error;
    made = { metadata: { name } };
  }
  const end = clock.now() + options.waitMilliseconds;
  for (;;) {
    signal.throwIfAborted();
    // A server that does not answer, or not to us any more, does not take the request back.
    const status = await requests.get(made.metadata.name!).then(
      (found) => found.status,
      (error: unknown) => {
        if (error instanceof ApiError && error.code === 404) throw error;
        return undefined;
      },
    );
    for (const { type, reason, message } of status?.conditions ?? [])
      if (type === "Denied" || type === "Failed")
        throw new RequestDenied(
          `certificate request ${made.metadata.name} was ${type}: ${reason} ${message}`,
        );
    if (status?.certificate) return Buffer.from(String(status.certificate), "base64").toString();
    if (clock.now() >= end)
      throw new Error(`certificate request ${made.metadata.name} was not answered in time`);
    await clock.sleep(lookMilliseconds, signal);
  }
}

/** The name of the one request for this key, so that a restarted agent finds it again. */
export function requestName(
  key: KeyObject,
  { commonName, organizations, usages }: Pick<CertificateTemplate, "commonName" | "organizations" | "usages">,
): string {
  const hash = createHash("sha512-256");
  const write = (data: Uint8Array | string): void => {
    hash.update(`${Buffer.from(data).toString("base64url")}|`);
  };
  write(createPublicKey(key).export({ type: "spki", format: "der" }));
  for (const text of [commonName, ...organizations, ...usages]) write(text);
  return `node-csr-${hash.digest("base64url")}`;
}
