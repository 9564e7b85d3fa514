// Certificate rotation: requests a new certificate well before the current one expires, and retries until it
// is signed.
import { type KeyObject, generateKeyPairSync } from "node:crypto";
import type { Clock, Log } from "#base";
import type { ApiClient } from "#client";
import type { CertificateFiles, StoredCertificate } from "./certificate-files.ts";
import { type CertificateTemplate, requestCertificate } from "./signing-request.ts";

export interface RotationOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: CertificateFiles;
  /** Returns the client for the next signing request. */
  readonly client: () => ApiClient;
  /** Returns undefined while the contents of the certificate are not known yet. */
  readonly template: () => CertificateTemplate | undefined;
  /** Reports whether the current certificate must be replaced regardless of its age. */
  readonly isStale?: (current: StoredCertificate) => boolean;
  readonly initial: StoredCertificate | undefined;
  /** Request a new certificate immediately even if there is one. */
  readonly rotateNow?: boolean;
  readonly random?: () => number;
  readonly onCertificate: (certificate: StoredCertificate) => void;
  readonly onFailure?: () => void;
}

const waitMilliseconds = 900_000;
const firstRetryMilliseconds = 2000;
const exponentialRetries = 5;
const slowRetryMilliseconds = 32_000;
const pollMilliseconds = 1000;
/** The clock may be set while the rotation waits. */
const maxSleepMilliseconds = 60_000;

/**
 * Returns when to request the next certificate: after 70 to 90 percent of the lifetime; `random` is 0 to 1.
 */
export const rotationTime = (
  { notBefore, notAfter }: Pick<StoredCertificate, "notBefore" | "notAfter">,
  random: number,
): number => notBefore + (notAfter - notBefore) * (0.7 + 0.2 * random);

/** Returns the delay after the given number of failures; `random` is 0 to 1. */
export const retryMilliseconds = (failures: number, random: number): number =>
  failures > exponentialRetries
    ? slowRetryMilliseconds
    : firstRetryMilliseconds * 2 ** (failures - 1) * (1 + 0.1 * random);

/** Runs until the signal is aborted. */
export async function certificateRotation(options: RotationOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, files } = options;
  const random = options.random ?? Math.random;
  let current = options.initial;
  let due = current && !options.rotateNow ? rotationTime(current, random()) : -Infinity;
  let failures = 0;
  while (!signal.aborted) {
    const template = options.template();
    const isStale = current !== undefined && options.isStale?.(current) === true;
    if (!template || (clock.now() < due && !isStale)) {
      const wait = options.isStale || !template ? pollMilliseconds : due - clock.now();
      await clock.sleep(Math.min(wait, maxSleepMilliseconds), signal).catch(() => undefined);
      continue;
    }
    try {
      current = await rotate(template);
      failures = 0;
      due = rotationTime(current, random());
      options.onCertificate(current);
      log.info("certificate rotated", {
        file: files.current,
        until: new Date(current.notAfter).toISOString(),
      });
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      options.onFailure?.();
      log.error("failed to rotate certificate", { file: files.current, error: (error as Error).message });
      await clock.sleep(retryMilliseconds(failures, random()), signal).catch(() => undefined);
    }
  }

  async function rotate(template: CertificateTemplate): Promise<StoredCertificate> {
    const key = newKey();
    const client = options.client();
    const certificate = await requestCertificate({ client, clock, template, key, waitMilliseconds }, signal);
    return await files.write(certificate, key);
  }
}

export const newKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
