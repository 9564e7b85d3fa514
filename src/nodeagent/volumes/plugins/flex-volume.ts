// Volumes mounted by programs that an operator installed (`flexVolume`). A record next to the volume names
// the driver for unmounting.
import { constants, existsSync } from "node:fs";
import { access, mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { execFile } from "node:child_process";
import type { FlexPersistentVolumeSource, FlexVolumeSource, Pod, SecretReference } from "#api";
import type { Dialect } from "#dialect";
import type { VolumePlugin, VolumeSpec } from "../../interfaces.ts";
import { nameOf, namespaceOf, uidOf } from "../../pod.ts";
import type { Mounter } from "../mounter.ts";
import { readRecord, removeRecord, writeRecord } from "../record-file.ts";
import { fsGroupOf } from "./sharing.ts";

export interface FlexVolumeOptions {
  readonly dialect: Dialect;
  readonly mounter: Mounter;
  /** Directory of the programs: `<vendor>~<driver>/<driver>`. */
  readonly directory: string;
  /** Returns the data of a secret in base64, as the programs expect it; rejects if it does not exist. */
  readonly secret: (namespace: string, name: string) => Promise<Readonly<Record<string, string>>>;
  /** Runs a program; replaced in tests. */
  readonly run?: RunProgram;
}

export type RunProgram = (
  program: string,
  args: readonly string[],
  signal?: AbortSignal,
) => Promise<{ readonly output: string }>;

interface FlexRecord {
  readonly driver: string;
}

const recordFile = "flex_volume.json";
const maxMilliseconds = 120_000;
const maxOutputBytes = 1 << 20;
const safeDriver = /^([a-z0-9.-]+\/)?[a-zA-Z0-9._-]+$/;

export function flexVolumePlugin(options: FlexVolumeOptions): VolumePlugin {
  const { mounter, dialect } = options;
  const run = options.run ?? runProgram;
  const programOf = (driver: string): string => {
    if (!safeDriver.test(driver)) throw new Error(`${JSON.stringify(driver)} cannot name a volume driver`);
    return join(options.directory, driver.replace("/", "~"), driver.split("/").at(-1)!);
  };
  const isMounted = async (path: string): Promise<boolean> => (await mounter.below(path)).includes(path);

  return {
    name: "flexvolume",
    // A driver whose program is not installed is not supported.
    supports: ({ volume, persistent }) => {
      const source = persistent ? persistent.spec.flexVolume : volume.flexVolume;
      return source !== undefined && safeDriver.test(source.driver) && existsSync(programOf(source.driver));
    },
    mount: async (pod, spec, directory, signal) => {
      const source = sourceOf(spec);
      const target = join(directory, "mount");
      const program = programOf(source.driver);
      await access(program, constants.X_OK).catch((error: unknown) => {
        throw new Error(`no volume program for driver ${source.driver}: ${program} cannot be run`, {
          cause: error,
        });
      });
      await mkdir(target, { recursive: true, mode: 0o750 });
      const record: FlexRecord = { driver: source.driver };
      await writeRecord(join(directory, recordFile), record);
      if (!(await isMounted(target))) {
        const given = JSON.stringify(await optionsFor(pod, spec, source));
        await callProgram(program, ["mount", target, given], signal);
      }
      const isReadOnly = spec.readOnly || source.readOnly === true;
      return { hostPath: target, ...(isReadOnly && { readOnly: true }), selinuxRelabel: true };
    },
    isRecorded: async (directory) => (await readRecord(join(directory, recordFile))) !== undefined,
    unmount: async (_, __, directory) => {
      const record = (await readRecord(join(directory, recordFile))) as FlexRecord | undefined;
      const target = join(directory, "mount");
      if (await isMounted(target)) {
        if (!record) return;
        await callProgram(programOf(record.driver), ["unmount", target]);
      }
      await rmdir(target).catch((error: unknown) => {
        if ((error as { code?: string }).code !== "ENOENT") throw error;
      });
      await removeRecord(join(directory, recordFile));
    },
  };

  /** Returns the options passed to the program, under the names it expects. */
  async function optionsFor(
    pod: Pod,
    { volume, persistent, readOnly }: VolumeSpec,
    source: FlexVolumeSource | FlexPersistentVolumeSource,
  ): Promise<Record<string, string>> {
    const prefix = dialect.names.volumes.pluginPrefix;
    const values: Record<string, string> = { ...source.options };
    values[`${prefix}fsType`] = source.fsType ?? "";
    values[`${prefix}readwrite`] = readOnly || source.readOnly ? "ro" : "rw";
    values[`${prefix}pvOrVolumeName`] = persistent?.metadata.name ?? volume.name;
    values[`${prefix}pod.name`] = nameOf(pod);
    values[`${prefix}pod.namespace`] = namespaceOf(pod);
    values[`${prefix}pod.uid`] = uidOf(pod);
    values[`${prefix}serviceAccount.name`] = pod.spec.serviceAccountName ?? "";
    const group = fsGroupOf(pod);
    if (group !== undefined) values[`${prefix}mounterArgs.FsGroup`] = String(group);
    const reference: SecretReference | undefined = source.secretRef;
    if (reference?.name) {
      const data = await options.secret(reference.namespace ?? namespaceOf(pod), reference.name);
      for (const [key, value] of Object.entries(data)) values[`${prefix}secret/${key}`] = value;
    }
    return values;
  }

  async function callProgram(program: string, args: readonly string[], signal?: AbortSignal): Promise<void> {
    const { output } = await run(program, args, signal);
    let answer: { readonly status?: string; readonly message?: string };
    try {
      answer = JSON.parse(output) as typeof answer;
    } catch (error) {
      throw new Error(`${program} ${args[0]} did not print valid JSON`, { cause: error });
    }
    if (answer.status !== "Success")
      throw new Error(
        `${args[0]} command failed, status: ${answer.status ?? ""}, reason: ${answer.message ?? ""}`,
      );
  }
}

const sourceOf = ({ volume, persistent }: VolumeSpec): FlexVolumeSource | FlexPersistentVolumeSource =>
  persistent ? persistent.spec.flexVolume! : volume.flexVolume!;

/** Failures are reported in the program's JSON output, so its exit code is ignored if there is any output. */
const runProgram: RunProgram = (program, args, signal) =>
  new Promise((resolve, reject) => {
    const limits = { timeout: maxMilliseconds, maxBuffer: maxOutputBytes, killSignal: "SIGKILL" as const };
    execFile(program, [...args], { ...limits, ...(signal && { signal }) }, (error, stdout) => {
      if (error && stdout.trim() === "") reject(error);
      else resolve({ output: stdout });
    });
  });
