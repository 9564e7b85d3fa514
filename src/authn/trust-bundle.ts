// Trusted authorities from a PEM file that may be replaced at runtime. An invalid replacement is reported and
// the previous trust kept.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Clock, pemBlocks } from "#base";

export interface TrustBundle {
  /** Returns the same array until the trust changes. */
  certificates(): readonly X509Certificate[];
  /** Returns the text as read, for TLS contexts. */
  pem(): string;
}

export interface FileTrustBundle extends TrustBundle {
  /** Reloads the file; resolves to whether the trust has changed, rejects if the file is unusable. */
  reload(): Promise<boolean>;
  /** Reloads every `milliseconds` until the returned function is called. */
  follow(
    clock: Clock,
    milliseconds: number,
    report: (change: { readonly changed: true } | { readonly error: unknown }) => void,
  ): () => void;
}

/**
 * Parses the certificates of a PEM text. Throws an error naming `source` if it has none or one is invalid.
 */
export function certificatesOf(pem: string, source: string): X509Certificate[] {
  const blocks = pemBlocks(pem).filter(({ type }) => type === "CERTIFICATE");
  if (blocks.length === 0)
    throw new Error(`${source}: no certificate found (expected PEM text with a CERTIFICATE block)`);
  return blocks.map(({ bytes }, index) => {
    try {
      return new X509Certificate(bytes);
    } catch (error) {
      throw new Error(`${source}: certificate ${index + 1} cannot be read: ${(error as Error).message}`, {
        cause: error,
      });
    }
  });
}

/** Trusts the authorities of a PEM text. */
export function trustBundle(pem: string, source: string): TrustBundle {
  const certificates = certificatesOf(pem, source);
  return { certificates: () => certificates, pem: () => pem };
}

/** Trusts the authorities of a file. Throws if the first read fails. */
export function trustBundleFile(file: string): FileTrustBundle {
  let pem = readFileSync(file, "utf8");
  let certificates = certificatesOf(pem, file);
  const reload = async (): Promise<boolean> => {
    const text = await readFile(file, "utf8");
    if (text === pem) return false;
    certificates = certificatesOf(text, file);
    pem = text;
    return true;
  };
  return {
    certificates: () => certificates,
    pem: () => pem,
    reload,
    follow: (clock, milliseconds, report) => {
      let stopped = false;
      let cancel = (): void => undefined;
      const again = async (): Promise<void> => {
        try {
          if (await reload()) report({ changed: true });
        } catch (error) {
          report({ error });
        }
        if (!stopped) arm();
      };
      const arm = (): void => {
        cancel = clock.after(milliseconds, () => void again());
      };
      arm();
      return () => {
        stopped = true;
        cancel();
      };
    },
  };
}
