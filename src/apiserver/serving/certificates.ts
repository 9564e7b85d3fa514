// Selects the certificate of a connection by SNI: by the name the client requests, or else the default one.
// Changed files are reloaded.
//
//   a.example.com   exact names first, then *.example.com;
//                   names configured in the flag before those in the certificate
import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { type SecureContext, type SecureContextOptions, createSecureContext } from "node:tls";
import type { Clock } from "#base";

export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface NamedPairFiles extends PairFiles {
  /** Empty to use the names in the certificate. */
  readonly names: readonly string[];
}

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Reads and checks a key pair; throws an error that names the files. */
export function readPair({ certFile, keyFile }: PairFiles): Pair {
  const pair = { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
  try {
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
      throw new Error("the key does not belong to the certificate");
  } catch (error) {
    throw new Error(`${certFile}, ${keyFile}: ${(error as Error).message}`, { cause: error });
  }
  return pair;
}

/** Returns the names in a certificate: the alternative names, or the common name if there are none. */
export function namesOf(certificate: X509Certificate): string[] {
  const alternatives = [...(certificate.subjectAltName ?? "").matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(
    (match) => match[1]!,
  );
  if (alternatives.length > 0) return alternatives;
  const common = /^CN=(.+)$/m.exec(certificate.subject)?.[1];
  return common === undefined ? [] : [common];
}

/**
 * Returns a lookup by name: exact names take precedence over wildcards, earlier entries over later ones.
 * Names that a certificate has in addition to those configured come last, behind those of the default
 * certificate.
 */
export function nameTable<T>(
  entries: readonly {
    readonly given: readonly string[];
    readonly found: readonly string[];
    readonly item: T;
  }[],
  defaultNames: readonly string[] = [],
): (name: string) => T | undefined {
  const table = new Map<string, T>();
  const fallback = new Map<string, T | undefined>();
  const add = (into: Map<string, T | undefined>, name: string, item: T | undefined): void => {
    const key = name.toLowerCase().replace(/\.$/, "");
    if (!into.has(key)) into.set(key, item);
  };
  for (const { given, item } of entries) for (const name of given) add(table, name, item);
  for (const { given, found, item } of entries)
    if (given.length === 0) for (const name of found) add(table, name, item);
  for (const name of defaultNames) add(fallback, name, undefined);
  for (const { found, item } of entries) for (const name of found) add(fallback, name, item);
  return (name) => {
    const requested = name.toLowerCase().replace(/\.$/, "");
    const wildcard = `*${requested.slice(requested.indexOf("."))}`;
    return (
      table.get(requested) ??
      table.get(wildcard) ??
      fallback.get(fallback.has(requested) ? requested : wildcard)
    );
  };
}

export interface ServingCertificates {
  /** TLS options of the server: the default pair, and the selection by SNI. */
  readonly options: SecureContextOptions & {
    readonly SNICallback?: (
      name: string,
      done: (error: Error | null, context?: SecureContext) => void,
    ) => void;
  };
  /** The default certificate as PEM. */
  readonly certificate: string;
  /** Polls the files until the signal is aborted; `changed` receives the new default pair. */
  follow(options: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly changed: (context: SecureContextOptions) => void;
    readonly problem: (error: Error) => void;
  }): void;
}

const pollMilliseconds = 1000;

export interface ServingFiles {
  /** The default pair: files, or an in-memory pair for a server without certificate files. */
  readonly main: PairFiles | Pair;
  readonly named: readonly NamedPairFiles[];
  /** Certificate authorities advertised to clients, so that they can select a matching client certificate. */
  readonly clientCaFiles: readonly string[];
}

export function servingCertificates(
  { main, named, clientCaFiles }: ServingFiles,
  settings: SecureContextOptions,
): ServingCertificates {
  const isFiles = (pair: PairFiles | Pair): pair is PairFiles => "certFile" in pair;
  const readCommon = (): SecureContextOptions =>
    clientCaFiles.length === 0
      ? settings
      : { ...settings, ca: clientCaFiles.map((file) => readFileSync(file, "utf8")) };
  const initial = readCommon();
  let pair = isFiles(main) ? readPair(main) : main;
  let selectContext = contextSelector(named, initial, pair);
  const files = [
    ...[...(isFiles(main) ? [main] : []), ...named].flatMap(({ certFile, keyFile }) => [certFile, keyFile]),
    ...clientCaFiles,
  ];
  return {
    options: {
      ...initial,
      ...pair,
      ...(named.length > 0 && { SNICallback: (name, done) => done(null, selectContext(name)) }),
    },
    get certificate() {
      return pair.cert;
    },
    follow: ({ clock, signal, changed, problem }) => {
      let seen = fingerprint(files);
      let cancel = (): void => undefined;
      const poll = (): void => {
        const now = fingerprint(files);
        if (now !== seen) {
          seen = now;
          try {
            const common = readCommon();
            const next = isFiles(main) ? readPair(main) : pair;
            selectContext = contextSelector(named, common, next);
            changed({ ...common, ...next });
            pair = next;
          } catch (error) {
            problem(error as Error);
          }
        }
        cancel = clock.after(pollMilliseconds, poll);
      };
      signal.addEventListener("abort", () => cancel(), { once: true });
      if (files.length > 0) cancel = clock.after(pollMilliseconds, poll);
    },
  };
}

function contextSelector(
  named: readonly NamedPairFiles[],
  common: SecureContextOptions,
  main: Pair,
): (name: string) => SecureContext | undefined {
  return nameTable(
    named.map((files) => {
      const read = readPair(files);
      return {
        given: files.names,
        found: namesOf(new X509Certificate(read.cert)),
        item: createSecureContext({ ...common, ...read }),
      };
    }),
    namesOf(new X509Certificate(main.cert)),
  );
}

/** Returns a text that changes when one of the files changes, without reading their content. */
function fingerprint(files: readonly string[]): string {
  return files
    .map((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
    })
    .join("\n");
}
