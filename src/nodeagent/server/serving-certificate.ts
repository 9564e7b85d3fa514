// The certificate of the agent's server: the configured one, or a self-signed one that is kept on disk.
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CertificatePair, servingWithAuthority, isPairKept, writePair } from "#authn";
import type { Clock, Log } from "#base";

export interface ServingCertificateOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Either both files are set or neither. */
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly folder: string;
  /** The agent's name, used in the file names of the self-signed pair. */
  readonly agent: string;
  readonly nodeName: string;
}

export interface ServingCertificate {
  readonly pair: CertificatePair;
  /** Calls onChange with a new pair when the files change, and again if it throws, until stopped. */
  follow(onChange: (pair: CertificatePair) => void): () => void;
}

const dayMilliseconds = 86_400_000;
const pollMilliseconds = 60_000;

export async function servingCertificate(options: ServingCertificateOptions): Promise<ServingCertificate> {
  const { clock, log, folder, agent, nodeName } = options;
  const isGiven = options.certificateFile !== "" && options.keyFile !== "";
  const certificateFile = isGiven ? options.certificateFile : join(folder, `${agent}.crt`);
  const keyFile = isGiven ? options.keyFile : join(folder, `${agent}.key`);
  const read = async (): Promise<CertificatePair> => ({
    certificate: await readFile(certificateFile, "utf8"),
    key: await readFile(keyFile, "utf8"),
  });
  let pair = isGiven ? await read() : await createOrLoad();
  return {
    pair,
    follow: (onChange) => {
      const stopping = new AbortController();
      void (async () => {
        for (;;) {
          await clock.sleep(pollMilliseconds, stopping.signal).catch(() => undefined);
          if (stopping.signal.aborted) return;
          try {
            const next = await read();
            if (next.certificate === pair.certificate && next.key === pair.key) continue;
            // Rejects a certificate whose key is not written yet; it is read again.
            onChange(next);
            pair = next;
          } catch (error) {
            log.error("failed to reload serving certificate; keeping the current one", {
              file: certificateFile,
              error: (error as Error).message,
            });
          }
        }
      })();
      return () => stopping.abort();
    },
  };

  async function createOrLoad(): Promise<CertificatePair> {
    const names = [nodeName];
    const kept = await read().catch(() => undefined);
    if (kept && isPairKept(kept, names, clock.now(), 30 * dayMilliseconds)) return kept;
    const stamp = String(Math.floor(clock.now() / 1000));
    const made = await servingWithAuthority(nodeName, stamp, names, { now: clock.now(), days: 365 });
    writePair(made, certificateFile, keyFile);
    // The certificate is public; the key is not.
    await chmod(certificateFile, 0o644);
    log.info("created a self-signed serving certificate", { file: certificateFile });
    return made;
  }
}
