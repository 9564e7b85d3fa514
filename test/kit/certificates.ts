// Certificates for tests, made with openssl: an authority and the identities it signs.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** PEM text. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface TestAuthority {
  readonly ca: string;
  /** Issues a certificate for servers and clients; `names` are DNS names, `ips` are IP addresses. */
  issue(
    subject: string,
    more?: { readonly names?: readonly string[]; readonly ips?: readonly string[] },
  ): Promise<Identity>;
  /** Signs a certificate request with all extensions it requests. */
  sign(request: string): Promise<string>;
}

/** Creates an authority. No files are left on disk. */
export async function testAuthority(subject = "/CN=test authority"): Promise<TestAuthority> {
  const inFolder = async <T>(use: (folder: string) => Promise<T>): Promise<T> => {
    const folder = await mkdtemp(join(tmpdir(), "orch-certificates-"));
    try {
      return await use(folder);
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const root = await inFolder(async (folder): Promise<Identity> => {
    const [cert, key] = [join(folder, "ca.crt"), join(folder, "ca.key")];
    await run("openssl", [
      "req",
      "-x509",
      ...curve,
      "-subj",
      subject,
      "-days",
      "2",
      "-keyout",
      key,
      "-out",
      cert,
    ]);
    return { cert: await readFile(cert, "utf8"), key: await readFile(key, "utf8") };
  });
  return {
    ca: root.cert,
    issue: (name, { names = [], ips = [] } = {}) =>
      inFolder(async (folder) => {
        const at = (file: string): string => join(folder, file);
        const alternatives = [...names.map((one) => `DNS:${one}`), ...ips.map((one) => `IP:${one}`)];
        await writeFile(at("ca.crt"), root.cert);
        await writeFile(at("ca.key"), root.key);
        await writeFile(
          at("extensions"),
          `extendedKeyUsage=serverAuth,clientAuth\n${alternatives.length ? `subjectAltName=${alternatives.join(",")}\n` : ""}`,
        );
        await run("openssl", [
          "req",
          "-new",
          ...curve,
          "-subj",
          name,
          "-keyout",
          at("key"),
          "-out",
          at("csr"),
        ]);
        await run("openssl", signing(folder, ["-extfile", at("extensions")]));
        return { cert: await readFile(at("crt"), "utf8"), key: await readFile(at("key"), "utf8") };
      }),
    sign: (request) =>
      inFolder(async (folder) => {
        const at = (file: string): string => join(folder, file);
        await writeFile(at("ca.crt"), root.cert);
        await writeFile(at("ca.key"), root.key);
        await writeFile(at("csr"), request);
        await run("openssl", signing(folder, ["-copy_extensions", "copyall"]));
        return await readFile(at("crt"), "utf8");
      }),
  };
}

/** Returns the openssl arguments that sign `csr` with `ca.crt` and `ca.key` of a folder into its `crt`. */
const signing = (folder: string, more: readonly string[]): string[] => {
  const at = (file: string): string => join(folder, file);
  const authority = ["-CA", at("ca.crt"), "-CAkey", at("ca.key"), "-CAcreateserial"];
  return ["x509", "-req", "-in", at("csr"), ...authority, "-days", "2", ...more, "-out", at("crt")];
};
