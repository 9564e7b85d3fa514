// A process to be killed: writes to a store with many writes in flight and records each one once it is
// acknowledged.
// Arguments: the directory, the round, a file, a number. The file gets a line per acknowledgement: key, step,
// revision; "open" and, after that number of acknowledgements, "enough" are printed.

import { openSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { openSqlite } from "#store";

const [dir, round, file, enough] = process.argv.slice(2) as [string, string, string, string];
const store = await openSqlite({ dir });
// A file and not a pipe: its content survives the kill, and writing to it never blocks.
const acknowledgements = openSync(file, "w");
let count = 0;
console.log("open");

const padding = "x".repeat(1400);
await Promise.all(
  Array.from({ length: 32 }, async (_, loop) => {
    const key = `r${round}/k${loop}`;
    for (let step = 1; ; step++) {
      const body = `${key} ${step} ${padding}`;
      // Every seventh step is a deletion, so that deletions are verified like other changes.
      const value = step % 7 === 0 ? null : Buffer.from(`${crc32(body)} ${body}`);
      const outcome = await store.write({ key, value, expect: "any" });
      if (!outcome.done) throw new Error("a write that expects nothing was refused");
      writeSync(acknowledgements, `${key} ${step} ${outcome.revision}\n`);
      if (++count === Number(enough)) console.log("enough");
      if (loop === 0 && step % 20 === 0) void store.compact(Math.max(1, outcome.revision - 200));
    }
  }),
);
