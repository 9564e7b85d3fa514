// The node's own registry credentials, from the first configuration file of the docker client that is found.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { readFile, stat } from "node:fs/promises";
import type { Clock, Log } from "#base";
import { type DockerConfigForm, parseDockerConfig } from "./docker-config.ts";
import type { RegistryAuths } from "./keyring.ts";

export interface DockerConfigFile {
  readonly path: string;
  readonly form: DockerConfigForm;
}

/** Returns the places where the kubelet looks, in its order: first all `config.json`, then all `.dockercfg`. */
export function dockerConfigFiles(rootDirectory: string): readonly DockerConfigFile[] {
  const home = homedir();
  const [json, legacy] = (["config.json", ".dockercfg"] as const).map((form) => (folder: string) => ({
    path: resolve(folder, form),
    form,
  }));
  return [
    ...[rootDirectory, ".", join(home, ".docker"), "/.docker"].map(json!),
    ...[rootDirectory, ".", home, "/"].map(legacy!),
  ];
}

const keepMilliseconds = 300_000;
const maxFileBytes = 10 * 1024 * 1024;

/** Returns a function that reads the credentials at most every five minutes. */
export function nodeCredentials({
  clock,
  log,
  files,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: readonly DockerConfigFile[];
}): () => Promise<RegistryAuths> {
  let kept: { readonly auths: Promise<RegistryAuths>; readonly until: number } | undefined;
  return () => {
    if (!kept || clock.monotonic() >= kept.until)
      kept = { auths: read(), until: clock.monotonic() + keepMilliseconds };
    return kept.auths;
  };

  async function read(): Promise<RegistryAuths> {
    for (const { path, form } of files)
      try {
        if ((await stat(path)).size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`);
        return parseDockerConfig(await readFile(path, "utf8"), form);
      } catch (error) {
        if (!["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? ""))
          log.verbose(2, "skipped unusable registry credentials", { path, error: (error as Error).message });
      }
    return [];
  }
}
