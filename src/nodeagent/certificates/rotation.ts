// Keeps a certificate fresh: asks for a new one well before the old one ends, again and again until it is
// signed.
import { type KeyObject, generateKeyPairSync } from "node:crypto";
import type { Clock, Log } from "#base";
import type { ApiClient } from "#client";
import type { CertificateFiles, StoredCertificate } from "./certificate-files.ts";
import { type CertificateTemplate, requestCertificate } from "./signing-request.ts";

export interface RotationOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: CertificateFiles;
  /** With which the next request is made. */
  readonly client: () => ApiClient;
  /** Undefined while it is not known what to ask for. */
  readonly template: () => CertificateTemplate | undefined;
  /** Whether what is there does not do, whatever its age. */
  readonly isStale?: (current: StoredCertificate) => boolean;
  readonly initial: StoredCertificate | undefined;
  /** Ask at once, though there is a certificate. */
  readonly rotateNow?: boolean;
  readonly random?: () => number;
  readonly onCertificate: (certificate: StoredCertificate) => void;
  readonly onFailure?: () => void;
}

const waitMilliseconds = 900_000;
const firstRetryMilliseconds = 2000;
const quickTries = 5;
const slowRetryMilliseconds = 32_000;
const lookMilliseconds = 1000;
/** Timers hold no more than this. */
const longestSleep = 2 ** 31 - 1;

/** When to ask for the next one: at a random point of the last part of its life. */
export const rotationTime = (
  { notBefore, notAfter }: Pick<StoredCertificate, "notBefore" | "notAfter">,
  random: number,
): number => notBefore + (notAfter - notBefore) * (0.7 + 0.2 * random);

/** How long to wait after a failure; `random` from 0 to 1. */
export const retryMilliseconds = (failures: number, random: number): number =>
  failures > quickTries
    ? slowRetryMilliseconds
    : firstRetryMilliseconds * 2 ** (failures - 1) * (1 + 0.1 * random);

/** Goes on until the signal is aborted. */
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
      const wait = options.isStale || !template ? lookMilliseconds : due - clock.now();
      await clock.sleep(Math.min(wait, longestSleep), signal).catch(() => undefined);
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
      log.error("certificate was not rotated", { file: files.current, error: (error as Error).message });
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
