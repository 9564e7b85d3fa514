// The persistent position of an export, in a file that is replaced atomically.
import { readFileSync } from "node:fs";
import { writePrivate } from "#base";

export interface ExportPosition {
  /** Empty before anything was exported. */
  readonly resourceVersion: string;
  /** Length of the exported file; 0 for other targets. */
  readonly bytes: number;
  /** An unfinished list: the continue token of the next page, and the file length before its first page. */
  readonly list?: { readonly continue: string; readonly begin: number };
}

export interface ExportCursor {
  read(): ExportPosition | undefined;
  write(position: ExportPosition): void;
}

/**
 * Returns a cursor in a file. Reading throws if the file is invalid, since only the operator may decide to
 * start over.
 */
export function cursorFile(file: string): ExportCursor {
  return {
    read: () => {
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
      const position = parsed(text);
      if (!position) throw new Error(`${file} is not a valid export cursor; remove it to start over`);
      return position;
    },
    write: (position) => writePrivate(file, `${JSON.stringify(position)}\n`),
  };
}

function parsed(text: string): ExportPosition | undefined {
  try {
    const { resourceVersion, bytes, list } = JSON.parse(text) as ExportPosition;
    if (!/^[0-9]*$/.test(resourceVersion) || !isSize(bytes)) return undefined;
    if (!list) return { resourceVersion, bytes };
    return typeof list.continue === "string" && isSize(list.begin) && list.begin <= bytes
      ? { resourceVersion, bytes, list: { continue: list.continue, begin: list.begin } }
      : undefined;
  } catch {
    return undefined;
  }
}

const isSize = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** A cursor that is never saved, for exports that start over each time. */
export const noCursor: ExportCursor = { read: () => undefined, write: () => undefined };
