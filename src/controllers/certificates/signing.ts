// Signs approved certificate requests with the cluster CA.
import { X509Certificate } from "node:crypto";
import { type CertificatePair, signRequest } from "#authn";
import { timeOfMillis } from "#base";
import { kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";
import { timeOf } from "../pods.ts";
import { type SeenRequest, conditionIs, decoded, signerProblem } from "./requests.ts";

export interface SigningSettings {
  readonly authority: CertificatePair;
  /** Maximum lifetime of a certificate. */
  readonly seconds: number;
  /** Expiry of the CA certificate; no certificate outlives it. */
  readonly authorityExpiry: number;
}

const backdateMilliseconds = 5 * 60_000;
const shortLivedMilliseconds = 8 * 3_600_000;
const minSeconds = 600;

/** Returns the first and the last millisecond of a certificate that is signed now. Throws if the CA has expired. */
export function validityOf(
  seconds: number,
  authorityExpiry: number,
  now: number,
): { readonly notBefore: number; readonly notAfter: number } {
  const notBefore = now - backdateMilliseconds;
  if (notBefore >= authorityExpiry)
    throw new Error(`the signer has expired: NotAfter=${timeOfMillis(authorityExpiry)}`);
  const lifetime = seconds * 1000;
  // Long-lived certificates are backdated as a whole; short-lived ones keep their full lifetime.
  const expiry = (lifetime < shortLivedMilliseconds ? now : notBefore) + lifetime;
  return { notBefore, notAfter: Math.min(authorityExpiry, expiry) };
}

export function csrSigningController(context: ControllerContext, settings: SigningSettings): Controller {
  const { client, clock, view, dialect } = context;
  const signers = new Set<string>(Object.values(dialect.names.signers));
  const resource = client.of(kinds.certificateSigningRequests);
  const queue = queueFor(context, "certificate_signing", sync);
  const isDue = (request: SeenRequest): boolean =>
    conditionIs(request, "Approved") &&
    !conditionIs(request, "Denied") &&
    !conditionIs(request, "Failed") &&
    !request.status.certificate &&
    signers.has(request.spec.signerName);
  const requests = view.follow(kinds.certificateSigningRequests, ({ type, object }) => {
    if (type !== "deleted" && isDue(object)) queue.add(object.metadata.name!);
  });
  return { stopped: queue.stopped };

  async function sync(name: string): Promise<void> {
    const request = requests.get(undefined, name);
    if (!request || !isDue(request)) return;
    const { signerName, usages = [] } = request.spec;
    const decodedRequest = decoded(request);
    const problem = decodedRequest.isSigned
      ? signerProblem(signerName, decodedRequest, usages, dialect)
      : "the request is not signed with its key";
    if (problem !== undefined) {
      // Invalid requests to the legacy signer are ignored silently.
      if (signerName === dialect.names.signers.legacyUnknown) return;
      return await fail(request, problem);
    }
    const certificate = signRequest(settings.authority, decodedRequest, {
      usages,
      ...validityOf(secondsFor(request), settings.authorityExpiry, clock.now()),
    });
    const encoded = Buffer.from(certificate).toString("base64");
    await write(request, { ...request.status, certificate: encoded });
  }

  function secondsFor({ spec }: SeenRequest): number {
    const requested = spec.expirationSeconds;
    if (typeof requested !== "number") return settings.seconds;
    return Math.min(settings.seconds, Math.max(minSeconds, requested));
  }

  async function fail(request: SeenRequest, message: string): Promise<void> {
    const now = timeOfMillis(clock.now());
    const condition = {
      type: "Failed",
      status: "True",
      reason: "SignerValidationFailure",
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    const conditions = [...(request.status.conditions ?? []), condition];
    await write(request, { ...request.status, conditions });
  }

  async function write(request: SeenRequest, status: SeenRequest["status"]): Promise<void> {
    await ignoreReasons(["NotFound"], resource.update({ ...request, status }, { subresource: "status" }));
  }
}

const hour = 3_600_000;

/**
 * Reports whether a request may be deleted: an hour after its decision, a day after its creation if
 * undecided, or as soon as its certificate has expired.
 */
export function isStale({ metadata, status }: SeenRequest, now: number): boolean {
  const { conditions = [], certificate } = status;
  const isOld = (time: string | null | undefined, maxAge: number): boolean => {
    const at = timeOf(time ?? undefined);
    return at > 0 && now - at > maxAge;
  };
  if (conditions.length === 0) return isOld(metadata.creationTimestamp, 24 * hour);
  return conditions.some(({ type, lastUpdateTime }) => {
    if (type === "Denied" || type === "Failed") return isOld(lastUpdateTime, hour);
    return (
      type === "Approved" && !!certificate && (isOld(lastUpdateTime, hour) || isExpired(certificate, now))
    );
  });
}

function isExpired(certificate: string, now: number): boolean {
  try {
    return new X509Certificate(Buffer.from(certificate, "base64")).validToDate.getTime() < now;
  } catch {
    return false;
  }
}

export function csrCleaningController(context: ControllerContext): Controller {
  const { client, clock, view, log } = context;
  const queue = queueFor(context, "csrcleaner", sync, { workers: 1 });
  const requests = view.follow(kinds.certificateSigningRequests);
  queue.addAfter("all", hour);
  return { stopped: queue.stopped };

  async function sync(): Promise<{ requeueAfterMilliseconds: number }> {
    for (const request of requests.items())
      if (isStale(request, clock.now())) {
        const { name, uid } = request.metadata;
        const deleted = client.of(kinds.certificateSigningRequests).delete(name!, { uid: uid! });
        // A request whose deletion is denied must not keep the others.
        await ignoreReasons(["NotFound", "Conflict"], deleted).catch((error: Error) =>
          log.warn("certificate request not deleted; it will be retried", { name, error: error.message }),
        );
      }
    return { requeueAfterMilliseconds: hour };
  }
}
