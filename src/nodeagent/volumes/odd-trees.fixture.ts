// Directory trees that containers can create in their volumes, and that paths as text cannot reach.
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";

export const oddFileBytes = 1_000_000;

/** Writes a file whose name is not valid UTF-8. */
export async function unreadableName(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.of(0xff, 0xfe)]);
  await writeFile(path, Buffer.alloc(oddFileBytes, 1));
}

/** Writes a file below more directories than fit into one path. */
export async function deepTree(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const script =
    "i=0; while [ $i -lt 600 ]; do mkdir dddddddddd; cd -P dddddddddd 2>&-; i=$((i+1)); done; " +
    `head -c ${oddFileBytes} /dev/zero >x`;
  execFileSync("sh", ["-c", script], { cwd: folder });
}
