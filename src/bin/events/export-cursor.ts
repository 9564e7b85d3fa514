// How far an export has come, in a file that is replaced as a whole.
import { readFileSync } from "node:fs";
import { writePrivate } from "#base";

export interface ExportPosition {
  /** Empty before anything was exported. */
  readonly resourceVersion: string;
  /** How far the file of lines reaches; 0 where lines go elsewhere. */
  readonly bytes: number;
  /** A list under way: the page that follows, and how far the file reached before its first. */
  readonly list?: { readonly continue: string; readonly begin: number };
}

export interface ExportCursor {
  read(): ExportPosition | undefined;
  write(position: ExportPosition): void;
}

/** Throws where the file is there and no cursor: to begin anew is for the operator to say. */
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
      if (!position) throw new Error(`${file} is no cursor of an export; remove it to begin anew`);
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

/** For an export that begins anew each time. */
export const noCursor: ExportCursor = { read: () => undefined, write: () => undefined };
