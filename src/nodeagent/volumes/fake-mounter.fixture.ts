// A mounter that only records calls, for tests without root privileges.
import { mkdir } from "node:fs/promises";
import type { Mounter } from "./mounter.ts";

export interface FakeMounter extends Mounter {
  readonly points: string[];
  readonly done: string[];
  /** Paths whose file server does not respond. */
  readonly silent: Set<string>;
}

export function fakeMounter(): FakeMounter {
  const points: string[] = [];
  const done: string[] = [];
  const silent = new Set<string>();
  const add = async (what: string, target: string): Promise<void> => {
    await mkdir(target, { recursive: true }).catch(() => undefined);
    points.push(target);
    done.push(what);
  };
  return {
    points,
    done,
    silent,
    answers: async (path) => {
      if (silent.has(path)) throw new Error(`the file server behind ${path} does not answer`);
    },
    tmpfs: (target, { sizeBytes, mode }) => add(`tmpfs ${mode} ${sizeBytes ?? "any"}`, target),
    hugetlbfs: (target, pageSize) => add(`hugetlbfs ${pageSize}`, target),
    bind: (source, target) => add(`bind ${source.replace(/\d+\/fd\/\d+$/, "open")}`, target),
    network: (type, source, target, options) => add(`${type} ${source} ${options.join(",")}`, target),
    makeShared: (target) => add("shared", target),
    mountInfo: () => Promise.resolve(""),
    unmount: (target) => {
      points.splice(points.lastIndexOf(target), 1);
      done.push("unmount");
      return Promise.resolve();
    },
    below: (path) =>
      Promise.resolve(points.filter((point) => point === path || point.startsWith(`${path}/`))),
  };
}
