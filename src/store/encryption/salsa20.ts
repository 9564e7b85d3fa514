// Salsa20, the stream cipher of secretbox, in vectors: four blocks at a time, one in each lane. The memory of the
// machine is little-endian on all supported platforms, as is that of WebAssembly.
//
//   state    constant key key key key constant nonce nonce counter counter constant key key key key constant
//   rounds   word 0 of four blocks, word 1 of four blocks, …
import { type Code, WasmFunction, get, i32, repeat, set, vector } from "./wasm.ts";

/** "expand 32-byte k" */
export const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
export const counterWord = 8;
/** Size of four blocks. */
export const groupBytes = 256;

const wordsPerBlock = 16;
const doubleRounds = 10;
const vectorBytes = 16;
const wordBytes = 4;
const lanes = vector.constant([0, 1, 2, 3]);

/** Words of the quarter rounds of a double round: first the columns, then the rows. */
const quarters: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
];

/** Returns a word of the state for each of the four blocks, which differ in their counters. */
function stateWord(state: number, word: number): Code {
  const same = vector.splat(get(state), word * wordBytes);
  return word === counterWord ? vector.add(same, lanes) : same;
}

/** `rounds(state, to)` stores the state of four blocks after twenty rounds. */
export function roundsFunction(): WasmFunction {
  const rounds = new WasmFunction("rounds", 2);
  const [state, to] = [0, 1];
  const [left] = rounds.locals("i32", 1) as [number];
  const words = rounds.locals("v128", wordsPerBlock);
  const [sum] = rounds.locals("v128", 1) as [number];
  const mix = (into: number, first: number, second: number, bits: number): Code => [
    ...set(sum, vector.add(get(words[first]!), get(words[second]!))),
    ...set(
      words[into]!,
      vector.xor(
        get(words[into]!),
        vector.or(vector.shiftLeft(get(sum), bits), vector.shiftRight(get(sum), 32 - bits)),
      ),
    ),
  ];
  rounds.add(
    ...words.map((local, word) => set(local, stateWord(state, word))),
    set(left, i32.constant(doubleRounds)),
    repeat(
      [
        ...quarters.flatMap(([a, b, c, d]) => [
          ...mix(b, a, d, 7),
          ...mix(c, b, a, 9),
          ...mix(d, c, b, 13),
          ...mix(a, d, c, 18),
        ]),
        ...set(left, i32.subtract(get(left), i32.constant(1))),
      ],
      get(left),
    ),
    ...words.map((local, word) => vector.store(get(to), get(local), word * vectorBytes)),
  );
  return rounds;
}

/** `addBlocks(state, rounds, message)` adds four blocks of the key stream to 256 bytes of a message. */
export function addBlocksFunction(): WasmFunction {
  const addBlocks = new WasmFunction("addBlocks", 3);
  const [state, rounds, message] = [0, 1, 2];
  const row = addBlocks.locals("v128", 4);
  const [low, high, lowRest, highRest] = addBlocks.locals("v128", 4) as [number, number, number, number];
  const [a, b, c, d] = row.map(get) as [Code, Code, Code, Code];
  for (let first = 0; first < wordsPerBlock; first += 4) {
    // Four words of four blocks become four blocks of four words.
    for (const [at, local] of row.entries()) {
      const afterRounds = vector.load(get(rounds), (first + at) * vectorBytes);
      addBlocks.add(set(local, vector.add(afterRounds, stateWord(state, first + at))));
    }
    addBlocks.add(
      set(low, vector.pick(a, b, [0, 4, 1, 5])),
      set(high, vector.pick(c, d, [0, 4, 1, 5])),
      set(lowRest, vector.pick(a, b, [2, 6, 3, 7])),
      set(highRest, vector.pick(c, d, [2, 6, 3, 7])),
    );
    const blocks = [
      vector.pick(get(low), get(high), [0, 1, 4, 5]),
      vector.pick(get(low), get(high), [2, 3, 6, 7]),
      vector.pick(get(lowRest), get(highRest), [0, 1, 4, 5]),
      vector.pick(get(lowRest), get(highRest), [2, 3, 6, 7]),
    ];
    for (const [block, stream] of blocks.entries()) {
      const offset = (block * wordsPerBlock + first) * wordBytes;
      addBlocks.add(
        vector.store(get(message), vector.xor(vector.load(get(message), offset), stream), offset),
      );
    }
  }
  return addBlocks;
}
