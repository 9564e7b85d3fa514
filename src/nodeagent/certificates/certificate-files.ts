// Stores certificates with their keys as files, one per certificate, with a symbolic link to the current one.
import { type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, rename, rm, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeFolderAsync } from "#base";

export interface StoredCertificate {
  /** The certificate chain followed by the private key. */
  readonly pem: string;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly names: string;
}

export interface CertificateFiles {
  /** Path of the symbolic link to the current certificate. */
  readonly current: string;
  /** Returns the current certificate; undefined if it is missing or unreadable. */
  read(): StoredCertificate | undefined;
  write(certificate: string, key: KeyObject | string): Promise<StoredCertificate>;
}

/** `name` is the prefix of the file names, such as `agent-client`. */
export function certificateFiles(folder: string, name: string, now: () => number): CertificateFiles {
  const directory = resolve(folder);
  const current = join(directory, `${name}-current.pem`);
  return {
    current,
    read: () => {
      try {
        return storedCertificate(readFileSync(current, "utf8"));
      } catch {
        return undefined;
      }
    },
    write: async (certificate, key) => {
      const keyText = typeof key === "string" ? key : keyPem(key);
      const pem = `${certificate.trimEnd()}\n${keyText}`;
      const stored = storedCertificate(pem);
      await makeFolderAsync(directory, 0o755);
      const stamp = new Date(now()).toISOString().slice(0, 19).replace(/[T:]/g, "-");
      const path = join(directory, `${name}-${stamp}.pem`);
      await rm(path, { force: true });
      const file = await open(path, "wx", 0o600);
      try {
        await file.writeFile(pem);
        await file.sync();
      } finally {
        await file.close();
      }
      const draft = join(directory, `${name}-updated.pem`);
      await rm(draft, { force: true });
      await symlink(path, draft);
      await rename(draft, current);
      return stored;
    },
  };
}

const keyPem = (key: KeyObject): string => key.export({ type: "sec1", format: "pem" }).toString();

/** Parses a certificate with its key. Throws if either is missing. */
export function storedCertificate(pem: string): StoredCertificate {
  const { validFromDate, validToDate, subjectAltName } = new X509Certificate(pem);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new Error("there is no private key");
  return {
    pem,
    notBefore: validFromDate.getTime(),
    notAfter: validToDate.getTime(),
    names: subjectAltName ?? "",
  };
}
